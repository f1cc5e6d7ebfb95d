//! Values that were handed in, found wherever they begin and end.

use super::MARKER;
use std::fmt;
use std::sync::Arc;

/// The values, in every spelling that is looked for.
#[derive(Default, Clone)]
pub(super) struct Exact {
    values: Vec<String>,
    /// The length of the longest one.
    longest: usize,
    /// The bytes that they begin with.
    starts: Vec<u8>,
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.values.len())
    }
}

impl Exact {
    /// Adds a value, and how it looks inside a JSON string.
    pub(super) fn add(&mut self, value: &str) {
        let quoted = serde_json::Value::from(value).to_string();
        let escaped = quoted[1..quoted.len() - 1].to_owned();
        for spelling in [value.to_owned(), escaped] {
            if self.has(&spelling) {
                continue;
            }
            self.longest = self.longest.max(spelling.len());
            let start = spelling.bytes().next().unwrap_or_default();
            if !self.starts.contains(&start) {
                self.starts.push(start);
            }
            self.values.push(spelling);
        }
    }

    /// Tells whether a value is known.
    pub(super) fn has(&self, value: &str) -> bool {
        self.values.iter().any(|known| known == value)
    }

    /// Finds every place that a value covers, overlaps joined.
    fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for value in &self.values {
            let mut from = 0;
            while let Some(at) = text.get(from..).and_then(|rest| rest.find(value.as_str())) {
                let start = from + at;
                found.push((start, start + value.len()));
                // Overlapping places count too; the next one begins at least one character on.
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
            }
        }
        found.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (start, end) in found {
            match joined.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        joined
    }

    /// Returns where the longest end begins that a value could begin with.
    fn possible_start(&self, text: &str) -> usize {
        let mut at = text.len().saturating_sub(self.longest.saturating_sub(1));
        while at < text.len() {
            if self.starts.contains(&text.as_bytes()[at]) && text.is_char_boundary(at) {
                let end = &text[at..];
                if self.values.iter().any(|value| value.starts_with(end)) {
                    return at;
                }
            }
            at += 1;
        }
        text.len()
    }
}

/// Takes values out of a text that comes in pieces.
#[derive(Debug)]
pub(super) struct ExactStream {
    exact: Arc<Exact>,
    held: String,
    /// How much at the beginning of the held text belongs to a secret whose marker is already out. It is held because
    /// another value may begin in it.
    covered: usize,
}

impl ExactStream {
    pub(super) const fn new(exact: Arc<Exact>) -> Self {
        Self {
            exact,
            held: String::new(),
            covered: 0,
        }
    }

    pub(super) fn push(&mut self, text: &str) -> String {
        if self.exact.values.is_empty() {
            return text.to_owned();
        }
        self.held.push_str(text);
        let until = self.exact.possible_start(&self.held);
        self.emit(until)
    }

    pub(super) fn finish(&mut self) -> String {
        self.emit(self.held.len())
    }

    /// Gives out what lies before `until`. A place that reaches beyond it stays, its marker is given out.
    fn emit(&mut self, until: usize) -> String {
        let mut out = String::with_capacity(until);
        let mut at = self.covered;
        for (start, end) in self.exact.find(&self.held) {
            if start >= until {
                break;
            }
            if start >= at {
                out.push_str(&self.held[at..start]);
                out.push_str(MARKER);
            }
            at = at.max(end);
        }
        if at < until {
            out.push_str(&self.held[at..until]);
        }
        self.covered = at.saturating_sub(until);
        self.held.drain(..until);
        out
    }
}
