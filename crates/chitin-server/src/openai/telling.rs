//! The answers of a turn as one text, piece by piece.

use super::reply::BETWEEN;
use chitin_contract::OutboundRules;
use chitin_text::silent::{SilentGate, spoken};

/// Makes one text of the answers of a turn. What is told, put together, is every answer without what means "say nothing",
/// joined by an empty line; whether it came in pieces, whole, or with pieces missing.
pub(super) struct Telling {
    rules: OutboundRules,
    gate: SilentGate,
    /// What is told of the answer that is being given.
    told: String,
    /// Whether the answer came in pieces.
    pieces: bool,
    /// Whether pieces of it are missing, so that the rest waits until it is there whole.
    broken: bool,
    /// Whether an answer is told already.
    any: bool,
}

impl Telling {
    pub(super) fn new(rules: OutboundRules) -> Self {
        Self {
            rules,
            gate: SilentGate::new(rules),
            told: String::new(),
            pieces: false,
            broken: false,
            any: false,
        }
    }

    /// Takes a piece of an answer; returns what is to be told now.
    pub(super) fn piece(&mut self, delta: &str) -> String {
        self.pieces = true;
        if self.broken {
            return String::new();
        }
        let shown = self.gate.push(delta);
        self.tell(&shown)
    }

    /// Pieces were missed, or are given again from the start.
    pub(super) fn missed(&mut self) {
        self.broken = true;
    }

    /// Takes a whole answer; returns what is still to be told of it.
    pub(super) fn whole(&mut self, text: &str) -> String {
        let gate = std::mem::replace(&mut self.gate, SilentGate::new(self.rules));
        let rest = if self.pieces && !self.broken {
            gate.finish().rest
        } else {
            let shown = spoken(text, &self.rules).unwrap_or_default();
            let shown = shown.trim();
            match shown.strip_prefix(self.told.as_str()) {
                Some(rest) => rest.to_owned(),
                // What was told is not how the answer begins: it was given again, in other words.
                None => format!("{BETWEEN}{shown}"),
            }
        };
        let rest = self.tell(&rest);
        self.any |= !self.told.is_empty();
        self.told.clear();
        self.pieces = false;
        self.broken = false;
        rest
    }

    /// Tells whether something is missing that will not come any more.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    fn tell(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let before = if self.told.is_empty() && self.any {
            BETWEEN
        } else {
            ""
        };
        self.told.push_str(text);
        format!("{before}{text}")
    }
}

#[cfg(test)]
#[path = "telling_tests.rs"]
mod tests;
