//! What turns say on the side, for the log of a server. Whoever watches a conversation gets it with the events of the turn.

use crate::gateway::Inner;
use crate::jobs::Job;
use std::collections::HashMap;
use std::sync::PoisonError;

/// How long the same note is not logged again, in milliseconds: many turns say the same.
const QUIET_MS: i64 = 10 * 60 * 1000;
/// How many notes are remembered.
const MOST: usize = 1_000;

/// When notes were last logged.
#[derive(Debug, Default)]
pub(crate) struct Noted(HashMap<String, i64>);

impl Noted {
    /// Tells whether a note is due, and takes it for logged then.
    fn is_due(&mut self, text: &str, now_ms: i64) -> bool {
        let is_recent = |at: &i64| now_ms.saturating_sub(*at) < QUIET_MS;
        if self.0.get(text).is_some_and(is_recent) {
            return false;
        }
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(text.to_owned(), now_ms);
        true
    }
}

impl Inner {
    /// Logs what a turn says on the side. In a terminal, whoever talks there reads it anyway.
    pub(crate) fn log_note(&self, job: &Job, text: &str) {
        if self.parts.ledger.is_volatile() {
            return;
        }
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.is_due(text, self.parts.clock.now_ms()) {
            drop(noted);
            (self.parts.note)(&format!("`{}`: {text}", job.session_key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_note_is_due_again_after_a_while() {
        let mut noted = Noted::default();
        assert!(noted.is_due("a", 0));
        assert!(!noted.is_due("a", QUIET_MS - 1));
        assert!(noted.is_due("b", QUIET_MS - 1));
        assert!(noted.is_due("a", QUIET_MS));
    }

    #[test]
    fn notes_without_end_stay_few() {
        let mut noted = Noted::default();
        for number in 0..10 * MOST {
            assert!(noted.is_due(&number.to_string(), 0));
        }
        assert!(noted.0.len() <= MOST);
    }
}
