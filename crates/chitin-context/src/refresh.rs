//! When an edit of the workspace shows in a running session (W57, CN8).
//!
//! `live`: on the next turn. `session`: what the session began with stays until it is reset or compacted, so that an
//! agent's own edit of `MEMORY.md` does not rewrite the prefix that the provider has cached. Users ask for both.

use chitin_workspace::contract::{Contract, Freshness};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// When an edit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// On the next turn.
    Live,
    /// When the session is reset or compacted.
    Session,
}

impl Refresh {
    /// Returns what the contract's runtime does.
    pub const fn of(contract: &Contract) -> Self {
        match contract.turns.freshness {
            Freshness::NextTurn => Self::Live,
            Freshness::NextSession => Self::Session,
        }
    }
}

/// What sessions began with, by session key; bounded, the least recently used is forgotten first.
#[derive(Debug)]
pub struct Frozen<T> {
    sessions: HashMap<String, Held<T>>,
    limit: usize,
    clock: u64,
}

#[derive(Debug)]
struct Held<T> {
    value: T,
    used: u64,
}

impl<T: Clone> Frozen<T> {
    /// Remembers at most `limit` sessions.
    pub fn new(limit: usize) -> Self {
        Self {
            sessions: HashMap::new(),
            limit: limit.max(1),
            clock: 0,
        }
    }

    /// Returns what the session began with, or looks now. Without a session key there is nothing to hold on to.
    pub fn take<E>(
        &mut self,
        session_key: Option<&str>,
        refresh: Refresh,
        look: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(key) = session_key.filter(|_| refresh == Refresh::Session) else {
            return look();
        };
        self.clock += 1;
        if let Some(held) = self.sessions.get_mut(key) {
            held.used = self.clock;
            return Ok(held.value.clone());
        }
        let value = look()?;
        if self.sessions.len() >= self.limit
            && let Some(oldest) = self
                .sessions
                .iter()
                .min_by_key(|(_, held)| held.used)
                .map(|(key, _)| key.clone())
        {
            self.sessions.remove(&oldest);
        }
        self.sessions.insert(
            key.to_owned(),
            Held {
                value: value.clone(),
                used: self.clock,
            },
        );
        Ok(value)
    }

    /// Forgets a session: it was reset, rolled over or compacted. Its next turn looks again.
    pub fn release(&mut self, session_key: &str) {
        self.sessions.remove(session_key);
    }
}
