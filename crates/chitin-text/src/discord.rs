//! Messages for Discord: limits of characters and of lines, with code blocks kept whole (R54).

use super::fences::{FenceLine, fence_line};
use super::paragraphs::fenced_paragraphs;
use super::units::{LF, all_blank, cut, is_blank, text as to_text, units};
use super::{ChunkLimits, ChunkMode};
use chitin_contract::{DiscordLines, OutboundRules};
use chitin_protocol::text::trim_end_js;

/// Cuts Markdown for Discord.
pub(crate) fn discord(text: &str, limits: &ChunkLimits, rules: &OutboundRules) -> Vec<String> {
    let max_chars = limits.max_chars.max(1);
    let max_lines = limits.max_lines.max(1);
    match limits.mode {
        ChunkMode::Length => messages(text, max_chars, max_lines, rules),
        ChunkMode::Newline => fenced_paragraphs(text, max_chars, rules)
            .iter()
            .flat_map(|paragraph| messages(&to_text(paragraph), max_chars, max_lines, rules))
            .collect(),
    }
}

fn messages(text: &str, max_chars: usize, max_lines: usize, rules: &OutboundRules) -> Vec<String> {
    let body = units(text);
    if body.is_empty() {
        return Vec::new();
    }
    let lines = body.split(|&unit| unit == LF);
    if body.len() <= max_chars && lines.clone().count() <= max_lines {
        return vec![text.to_owned()];
    }
    let italics = rules.discord_lines == DiscordLines::OwnLine && is_reasoning(text);
    let mut packing = Packing {
        // Both marks that keep the reasoning in italics count.
        max_chars: max_chars.saturating_sub(usize::from(italics) * 2).max(1),
        max_lines,
        rules,
        done: Vec::new(),
        current: Vec::new(),
        lines: 0,
        open: None,
        resumed: false,
    };
    for line in lines {
        packing.line(line);
    }
    keep_italics(text, packing.finish())
}

/// A code block that is open.
#[derive(Clone)]
struct OpenFence {
    opening: FenceLine,
    line: Vec<u16>,
}

impl OpenFence {
    fn close_line(&self) -> &[u16] {
        &self.line[..self.opening.indent + self.opening.length]
    }

    /// Returns the line that opens the block again, if there is room for it and for some code.
    fn reopening(&self, max_chars: usize) -> Option<&[u16]> {
        let bare = self.close_line();
        if self.line.len() + bare.len() + 3 <= max_chars {
            Some(&self.line)
        } else if bare.len() * 2 + 3 <= max_chars {
            Some(bare)
        } else {
            None
        }
    }
}

/// Lines on their way into messages.
struct Packing<'a> {
    max_chars: usize,
    max_lines: usize,
    rules: &'a OutboundRules,
    done: Vec<Vec<u16>>,
    current: Vec<u16>,
    lines: usize,
    open: Option<OpenFence>,
    /// Whether the message holds nothing yet but the line that opens a block again.
    resumed: bool,
}

impl Packing<'_> {
    fn line(&mut self, line: &[u16]) {
        let ends = self.rules.fence_ends;
        let next = match (fence_line(line, ends), &self.open) {
            (Some(opening), None) if self.can_close(opening) => Some(OpenFence {
                opening,
                line: line[..opening.width].to_vec(),
            }),
            (Some(fence), Some(open)) if fence.closes(open.opening, ends) => None,
            (_, open) => open.clone(),
        };
        match self.rules.discord_lines {
            DiscordLines::BehindOpening => self.segments(line, next.as_ref()),
            DiscordLines::OwnLine => self.whole_lines(line, next.as_ref()),
        }
        self.open = next;
    }

    /// Tells whether a message has room for the marker of a block at both ends. A line of thousands of `~` is no block for us.
    fn can_close(&self, opening: FenceLine) -> bool {
        self.rules.discord_lines == DiscordLines::BehindOpening
            || (opening.indent + opening.length) * 2 + 3 <= self.max_chars
    }

    /// Returns how many characters and lines a message may have, with the closing line of a block put aside.
    fn room(&self, fence: Option<&OpenFence>) -> (usize, usize) {
        let (chars, lines) = fence.map_or((0, 0), |fence| (fence.close_line().len() + 1, 1));
        let or_all = |max: usize, aside: usize| if max > aside { max - aside } else { max };
        (or_all(self.max_chars, chars), or_all(self.max_lines, lines))
    }

    /// Adds a line as 2026.4 does: it is cut by the room that the message had when the line began.
    fn segments(&mut self, line: &[u16], next: Option<&OpenFence>) {
        let (max_chars, max_lines) = self.room(next);
        let taken = match self.current.len() {
            0 => 0,
            length => length + 1,
        };
        let limit = max_chars.saturating_sub(taken).max(1);
        let mut start = 0;
        loop {
            let end = self.segment_end(line, start, limit);
            let first = start == 0;
            let delimiter = usize::from(first && !self.current.is_empty());
            let length = self.current.len() + delimiter + end - start;
            let lines = self.lines + usize::from(first);
            // The break is decided before the message is sent, as is what stands before the line.
            if (length > max_chars || lines > max_lines) && !self.current.is_empty() {
                self.flush();
            }
            if self.current.is_empty() {
                self.lines = 1;
            } else {
                if delimiter == 1 {
                    self.current.push(LF);
                }
                self.lines += usize::from(first);
            }
            self.current.extend_from_slice(&line[start..end]);
            start = end;
            if start >= line.len() {
                break;
            }
        }
    }

    /// Returns where a part of a line ends: inside code wherever it must be, else at a blank.
    fn segment_end(&self, line: &[u16], start: usize, limit: usize) -> usize {
        if line.len() - start <= limit {
            return line.len();
        }
        let window = &line[start..start + limit];
        let blank = if self.open.is_some() {
            None
        } else {
            window
                .iter()
                .rposition(|&unit| is_blank(unit))
                .map(|at| start + at)
        };
        cut(line, start, start + limit, blank, self.rules.cuts)
    }

    /// Adds a line so that what is left of it begins on a line of its own, and every message keeps its limits.
    fn whole_lines(&mut self, line: &[u16], next: Option<&OpenFence>) {
        if self.resumed && self.open.is_some() && next.is_none() {
            // The block was closed when the message before was sent.
            self.current.clear();
            self.lines = 0;
            self.resumed = false;
            return;
        }
        if let Some(open) = self.open.as_ref().filter(|_| next.is_none()) {
            // Room for this line was put aside.
            self.current.push(LF);
            self.current.extend_from_slice(open.close_line());
            self.lines += 1;
            return;
        }
        let opens = self.open.is_none() && next.is_some();
        let fence = next.or(self.open.as_ref()).cloned();
        let (max_chars, max_lines) = self.room(fence.as_ref());
        let mut start = 0;
        loop {
            let taken = match self.current.len() {
                0 => 0,
                length => length + 1,
            };
            let empty = self.current.is_empty() || self.resumed;
            // The line that opens a block is not cut, if that can be, and a character never is.
            let least = match line.len() - start {
                left if opens => left,
                0 => 1,
                _ => cut(line, start, start + 1, None, self.rules.cuts) - start,
            };
            let full = self.lines >= max_lines || taken + least > max_chars;
            if full && !empty {
                self.flush();
                continue;
            }
            let room = max_chars.saturating_sub(taken).max(1);
            let end = self.segment_end(line, start, room);
            if !self.current.is_empty() {
                self.current.push(LF);
            }
            self.current.extend_from_slice(&line[start..end]);
            self.lines += 1;
            self.resumed = false;
            start = end;
            if start >= line.len() {
                return;
            }
            self.flush();
        }
    }

    fn flush(&mut self) {
        let message = std::mem::take(&mut self.current);
        self.send(message);
        self.lines = 0;
        let reopened = match (&self.open, self.rules.discord_lines) {
            (None, _) => None,
            (Some(open), DiscordLines::BehindOpening) if open.line.len() < self.max_chars => {
                Some(open.line.as_slice())
            }
            (Some(open), _) => open.reopening(self.max_chars),
        };
        if let Some(line) = reopened {
            self.current.extend_from_slice(line);
            self.lines = 1;
            self.resumed = true;
        }
    }

    /// Takes a message as it is sent: with its code block closed.
    fn send(&mut self, mut message: Vec<u16>) {
        if let Some(open) = &self.open {
            if !message.is_empty() && message.last() != Some(&LF) {
                message.push(LF);
            }
            message.extend_from_slice(open.close_line());
        }
        if !all_blank(&message) {
            self.done.push(message);
        }
    }

    fn finish(mut self) -> Vec<String> {
        let left = self.rules.discord_lines == DiscordLines::BehindOpening || !self.resumed;
        if !self.current.is_empty() && left {
            let message = std::mem::take(&mut self.current);
            self.send(message);
        }
        self.done.iter().map(|message| to_text(message)).collect()
    }
}

/// Tells whether a text is reasoning as a whole, in italics.
fn is_reasoning(text: &str) -> bool {
    text.starts_with(crate::compat::REASONING_OPENING) && trim_end_js(text).ends_with('_')
}

/// Puts the italics of reasoning into every message.
fn keep_italics(source: &str, mut messages: Vec<String>) -> Vec<String> {
    if messages.len() < 2 || !is_reasoning(source) {
        return messages;
    }
    let last = messages.len() - 1;
    for (at, message) in messages.iter_mut().enumerate() {
        let begins = message
            .find(|character| !chitin_protocol::text::is_js_whitespace(character))
            .unwrap_or(message.len());
        if at > 0 && !message[begins..].starts_with('_') {
            message.insert(begins, '_');
        }
        if !trim_end_js(message).ends_with('_') || (at < last && message.trim_end() == "_") {
            message.push('_');
        }
    }
    messages
}
