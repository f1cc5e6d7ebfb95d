//! Messages that get one turn together, as one text.

use super::pending::QueuedMessage;
use chitin_protocol::text::utf16_prefix;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// How long the line of a message is that had to go, in UTF-16 units.
const LINE_UNITS: usize = 160;
/// How many such lines are kept at most.
const MOST_LINES: usize = 20;

/// What had to go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dropped {
    total: u64,
    lines: VecDeque<String>,
}

impl Dropped {
    /// Returns how many messages had to go.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns a line of each of the last ones, the oldest first.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    pub(super) fn count(&mut self) {
        self.total = self.total.saturating_add(1);
    }

    /// Counts a message and keeps a line of it; of many lines the oldest go.
    pub(super) fn note(&mut self, words: &str, cap: usize) {
        self.count();
        // A message may be long; what cannot show in the line need not be looked at.
        let start = utf16_prefix(words, LINE_UNITS * 4);
        let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut = utf16_prefix(&line, LINE_UNITS - 1);
        let all = cut.len() == line.len() && start.len() == words.len();
        let line = if all { line } else { format!("{cut}…") };
        self.lines.push_back(line);
        while self.lines.len() > cap.min(MOST_LINES) {
            self.lines.pop_front();
        }
    }
}

/// Messages that get one turn together, and what had to go before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<T> {
    /// The messages, the oldest first; at least one.
    pub items: Vec<T>,
    /// What had to go.
    pub dropped: Dropped,
}

impl<T: QueuedMessage> Batch<T> {
    pub(super) const fn new(items: Vec<T>, dropped: Dropped) -> Self {
        Self { items, dropped }
    }

    /// Returns the text of the turn. A single message is its own text, unless others had to go.
    pub fn prompt(&self) -> String {
        let mut text = self.note();
        if let [only] = self.items.as_slice() {
            text.push_str(only.words());
            return text;
        }
        let count = self.items.len();
        let _ = writeln!(
            text,
            "{count} messages came while you were at work. Take them together, the oldest is first."
        );
        for (index, item) in self.items.iter().enumerate() {
            let _ = write!(
                text,
                "\n[Message {} of {count}]\n{}\n",
                index + 1,
                item.words()
            );
        }
        text.truncate(text.trim_end_matches('\n').len());
        text
    }

    /// Says what had to go.
    fn note(&self) -> String {
        let total = self.dropped.total();
        if total == 0 {
            return String::new();
        }
        let messages = if total == 1 { "message" } else { "messages" };
        let mut note = format!("[{total} {messages} left out: more came than could wait]\n");
        let kept = self.dropped.lines.len() as u64;
        if kept > 0 && kept < total {
            let _ = writeln!(note, "The last {kept} began like this:");
        } else if kept > 0 {
            let _ = writeln!(note, "In short:");
        }
        for line in &self.dropped.lines {
            let _ = writeln!(note, "- {line}");
        }
        note.push('\n');
        note
    }
}
