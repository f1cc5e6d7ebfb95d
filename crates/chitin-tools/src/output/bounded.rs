//! The head and the tail of a text of any length.

use std::fmt::Write;

/// How much of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLimits {
    /// Bytes, the note included.
    pub max_bytes: usize,
    /// Lines, the note included.
    pub max_lines: usize,
    /// How much of both goes to the beginning, in percent.
    pub head_percent: u8,
}

impl OutputLimits {
    /// Bounds bytes only; most goes to the end, where commands say how they fared.
    pub const fn bytes(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            max_lines: usize::MAX,
            head_percent: 30,
        }
    }

    /// Bounds lines as well.
    #[must_use]
    pub const fn lines(mut self, max_lines: usize) -> Self {
        self.max_lines = max_lines;
        self
    }
}

/// What is left of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundedText {
    /// The text, with a note where something is left out. Never more than the limits.
    pub text: String,
    /// How many bytes there were.
    pub total_bytes: u64,
    /// How many lines there were; a last one without an end counts.
    pub total_lines: u64,
    /// How many bytes are left out.
    pub left_out: u64,
}

/// Room for the longest note.
const NOTE_BYTES: usize = 96;

/// Keeps the head and the tail of a text that comes in pieces.
#[derive(Debug)]
pub struct Bounded {
    limits: OutputLimits,
    head: String,
    head_lines: usize,
    head_full: bool,
    /// What came after the head; cut at the front when it has become twice as long as needed.
    tail: String,
    total_bytes: u64,
    line_ends: u64,
    ends_with_line_end: bool,
}

impl Bounded {
    /// Starts empty.
    pub const fn new(limits: OutputLimits) -> Self {
        Self {
            limits,
            head: String::new(),
            head_lines: 0,
            head_full: false,
            tail: String::new(),
            total_bytes: 0,
            line_ends: 0,
            ends_with_line_end: true,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.total_bytes += text.len() as u64;
        self.line_ends += line_ends(text) as u64;
        self.ends_with_line_end = text.ends_with('\n');
        let mut rest = text;
        if !self.head_full {
            let (bytes, lines) = self.head_room();
            let room = bytes.saturating_sub(self.head.len());
            let fits = prefix(rest, room, lines.saturating_sub(self.head_lines));
            self.head_lines += line_ends(&rest[..fits]);
            self.head.push_str(&rest[..fits]);
            rest = &rest[fits..];
            self.head_full = !rest.is_empty();
        }
        // A piece that is longer than the tail can hold counts only with its end.
        let keep = self.limits.max_bytes.saturating_mul(2);
        if rest.len() > keep {
            self.tail.clear();
            rest = &rest[next_boundary(rest, rest.len() - keep)..];
        }
        self.tail.push_str(rest);
        if self.tail.len() > keep.max(NOTE_BYTES) {
            let cut = next_boundary(&self.tail, self.tail.len() - self.limits.max_bytes);
            self.tail.drain(..cut);
        }
    }

    fn head_room(&self) -> (usize, usize) {
        let share = usize::from(self.limits.head_percent.min(100));
        let bytes = self.limits.max_bytes.saturating_sub(NOTE_BYTES);
        let lines = self.limits.max_lines.saturating_sub(1);
        (bytes / 100 * share + bytes % 100 * share / 100, {
            lines / 100 * share + lines % 100 * share / 100
        })
    }

    /// Ends and puts head, note and tail together.
    pub fn finish(self) -> BoundedText {
        let lines =
            |ends: usize, text: &str| ends + usize::from(!text.is_empty() && !text.ends_with('\n'));
        let total_lines = self.line_ends + u64::from(!self.ends_with_line_end);
        let done = |text: String, left_out: u64| BoundedText {
            text,
            total_bytes: self.total_bytes,
            total_lines,
            left_out,
        };
        let kept = self.head.len() + self.tail.len();
        let is_whole = kept as u64 == self.total_bytes;
        let kept_lines = lines(line_ends(&self.head) + line_ends(&self.tail), &self.tail);
        if is_whole && kept <= self.limits.max_bytes && kept_lines <= self.limits.max_lines {
            return done(self.head + &self.tail, 0);
        }
        // Everything that is not kept lies between head and tail.
        let mut text = self.head;
        let room = self
            .limits
            .max_bytes
            .saturating_sub(text.len() + NOTE_BYTES);
        let used_lines = lines(self.head_lines, &text) + 1;
        let room_lines = self.limits.max_lines.saturating_sub(used_lines);
        let start = suffix(&self.tail, room, room_lines);
        let tail = &self.tail[start..];
        let left_out = self.total_bytes - (text.len() + tail.len()) as u64;
        let left_lines = total_lines
            .saturating_sub((lines(self.head_lines, &text) + lines(line_ends(tail), tail)) as u64);
        let mut note = String::new();
        if !text.is_empty() && !text.ends_with('\n') {
            note.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(
            note,
            "[… {left_out} bytes, about {left_lines} lines, omitted …]"
        );
        if !tail.is_empty() {
            note.push('\n');
        }
        if note.len()
            > self
                .limits
                .max_bytes
                .saturating_sub(text.len() + tail.len())
            || self.limits.max_lines == 0
        {
            // No room for a note: then there is none for anything else either.
            let cut = prefix(&text, self.limits.max_bytes, self.limits.max_lines);
            text.truncate(cut);
            return done(text, self.total_bytes - cut as u64);
        }
        text.push_str(&note);
        text.push_str(tail);
        done(text, left_out)
    }
}

fn line_ends(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Returns how many bytes from the beginning fit into so many bytes and whole lines.
fn prefix(text: &str, bytes: usize, lines: usize) -> usize {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if lines == 0 {
        return 0;
    }
    // After the last line that is allowed nothing more fits.
    text[..end]
        .match_indices('\n')
        .nth(lines - 1)
        .map_or(end, |(at, _)| at + 1)
}

/// Returns where the end begins that fits into so many bytes and lines.
fn suffix(text: &str, bytes: usize, lines: usize) -> usize {
    if lines == 0 {
        return text.len();
    }
    let start = next_boundary(text, text.len().saturating_sub(bytes));
    let body = text[start..].strip_suffix('\n').unwrap_or(&text[start..]);
    body.rmatch_indices('\n')
        .nth(lines - 1)
        .map_or(start, |(at, _)| start + at + 1)
}

fn next_boundary(text: &str, mut at: usize) -> usize {
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
