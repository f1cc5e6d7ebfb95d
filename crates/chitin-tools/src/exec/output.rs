//! Output without end, kept in bounded memory: the beginning, the end, and a count of what lies between.

use std::collections::VecDeque;

/// How far a cut is moved to fall between two lines.
const TO_LINE: usize = 4096;
/// The longest unfinished word that is held back.
const WORD: usize = 512;

/// Keeps the beginning and the end of a stream of bytes.
#[derive(Debug)]
pub struct Collector {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    total: u64,
}

/// What is kept of an output, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The text, with a marker where something is missing.
    pub text: String,
    /// How many bytes are missing.
    pub missing: u64,
}

impl Collector {
    /// Makes a collector that keeps at most so many bytes, more of the end than of the beginning: that is where errors
    /// stand.
    pub fn new(limit: usize) -> Self {
        let head_limit = limit / 4;
        Self {
            head: Vec::new(),
            head_limit,
            tail: VecDeque::new(),
            tail_limit: limit - head_limit,
            total: 0,
        }
    }

    /// Takes more in.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // Of a chunk that is longer than all the room there is, only its end counts.
        let rest = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Returns how many bytes came.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns what is kept from a position on, in at most so many bytes.
    pub fn excerpt(&self, from: u64, limit: usize) -> Excerpt {
        self.between(from, self.total, limit)
    }

    /// Returns the position up to which a text can be handed out while more is coming: an unfinished word is held back, so
    /// that a secret is never handed out in halves that nobody recognises.
    pub fn settled(&self) -> u64 {
        let word = self
            .tail
            .iter()
            .rev()
            .chain(self.head.iter().rev())
            .take(WORD)
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        if word == WORD {
            self.total
        } else {
            self.total - word as u64
        }
    }

    /// Returns what is kept between two positions, in at most so many bytes.
    pub fn between(&self, from: u64, to: u64, limit: usize) -> Excerpt {
        let to = to.min(self.total);
        let from = from.min(to);
        let tail_start = self.total - self.tail.len() as u64;
        let head = slice(&self.head, 0, from, to);
        let tail = {
            let skip = usize_of(from.saturating_sub(tail_start)).min(self.tail.len());
            let end = usize_of(to.saturating_sub(tail_start)).min(self.tail.len());
            self.tail.range(skip..end.max(skip)).copied()
        };
        let tail: Vec<u8> = tail.collect();
        let gap = (to - from) - head.len() as u64 - tail.len() as u64;
        let (mut head, mut tail) = (head, tail.as_slice());
        let mut cut = gap > 0;
        if head.len() + tail.len() > limit {
            cut = true;
            let head_limit = if gap > 0 || tail.is_empty() {
                limit / 4
            } else {
                head.len().min(limit / 4)
            };
            if tail.is_empty() {
                // All of it stands at the beginning: it is split as if it had been cut there.
                let (first, last) = head.split_at(head.len() - (limit - head_limit));
                head = &first[..head_limit.min(first.len())];
                tail = last;
            } else {
                head = &head[..head_limit.min(head.len())];
                tail = &tail[tail.len().saturating_sub(limit - head.len())..];
            }
        }
        if !cut {
            let whole = [head, tail].concat();
            return Excerpt {
                text: String::from_utf8_lossy(&whole).into_owned(),
                missing: 0,
            };
        }
        let (head, tail) = (to_line_end(head), to_line_start(tail));
        let missing = (to - from) - head.len() as u64 - tail.len() as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let newline = if head.is_empty() || head.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Excerpt {
            text: format!("{head}{newline}[… {missing} bytes omitted …]\n{tail}"),
            missing,
        }
    }
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns the part of the bytes, which begin at `start`, that lies between two positions.
fn slice(bytes: &[u8], start: u64, from: u64, to: u64) -> &[u8] {
    let at = |position: u64| usize_of(position.saturating_sub(start)).min(bytes.len());
    &bytes[at(from)..at(to)]
}

/// Moves a cut back to the end of a line, or at least of a character.
fn to_line_end(bytes: &[u8]) -> &[u8] {
    let near = bytes.len().saturating_sub(TO_LINE);
    if let Some(at) = bytes[near..].iter().rposition(|byte| *byte == b'\n') {
        return &bytes[..=near + at];
    }
    let mut end = bytes.len();
    // A character has at most four bytes; more continuation bytes than that are no character.
    for _ in 0..4 {
        match bytes[..end].last() {
            Some(byte) if *byte & 0xC0 == 0x80 => end -= 1,
            Some(byte) if *byte >= 0xC0 => return &bytes[..end - 1],
            _ => break,
        }
    }
    bytes
}

/// Moves a cut on to the start of a line, or at least of a character.
fn to_line_start(bytes: &[u8]) -> &[u8] {
    let near = bytes.len().min(TO_LINE);
    if let Some(at) = bytes[..near].iter().position(|byte| *byte == b'\n')
        && at + 1 < bytes.len()
    {
        return &bytes[at + 1..];
    }
    let start = bytes
        .iter()
        .take(4)
        .take_while(|byte| **byte & 0xC0 == 0x80)
        .count();
    &bytes[start..]
}
