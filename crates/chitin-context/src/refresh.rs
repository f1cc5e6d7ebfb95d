//! When an edit of the workspace shows in a running session (W57, CN8).
//!
//! `live`: on the next turn. `session`: what the session began with stays until it is reset or compacted, so that an
//! agent's own edit of `MEMORY.md` does not rewrite the prefix that the provider has cached. Users ask for both.

use chitin_contract::{Contract, Freshness};
use chitin_protocol::config::RefreshSetting;
use chitin_workspace::Workspace;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// When an edit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefreshRule {
    /// On the next turn.
    Live,
    /// When the session is reset or compacted.
    Session,
}

impl RefreshRule {
    /// Returns what the contract's runtime does.
    pub const fn of(contract: &Contract) -> Self {
        match contract.turns.freshness {
            Freshness::NextTurn => Self::Live,
            Freshness::NextSession => Self::Session,
        }
    }

    /// Returns what the user chose, or else what the contract's runtime does.
    pub const fn chosen(contract: &Contract, setting: Option<RefreshSetting>) -> Self {
        match setting {
            Some(RefreshSetting::Live) => Self::Live,
            Some(RefreshSetting::Session) => Self::Session,
            None => Self::of(contract),
        }
    }
}

/// Returns what the session began with, with those files fresh that change with every turn and stand below the cache
/// boundary anyway. A contract that keeps every file for the whole session gets what the session began with.
pub fn with_dynamic_files(began: &Arc<Workspace>, now: &Arc<Workspace>) -> Arc<Workspace> {
    let contract = began.contract();
    let is_dynamic = |name: &str| {
        contract.rendering.dynamic_heartbeat
            && contract.turns.freshness == Freshness::NextTurn
            && contract
                .loading
                .files
                .iter()
                .any(|file| file.always_read && file.name == name)
    };
    let fresh = |name: &str| now.record(name).filter(|_| is_dynamic(name));
    let records = began.records().iter().map(|record| {
        let fresh = fresh(&record.name).unwrap_or(record);
        fresh.clone()
    });
    Arc::new(Workspace::from_records(
        began.path(),
        contract,
        records.collect(),
    ))
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
        refresh: RefreshRule,
        look: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(key) = session_key.filter(|_| refresh == RefreshRule::Session) else {
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
