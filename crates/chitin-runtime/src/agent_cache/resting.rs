//! Agents that rest, and which of them are let go.

use super::{AgentCache, CacheKey};
use crate::factory::AgentRemains;
use chitin_protocol::settings::ServeSettings;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an agent rests before it is let go, when nobody says.
const IDLE_SECONDS: u32 = 600;
/// How many agents that rest are kept, when nobody says.
const MOST_IDLE: u32 = 64;
/// How often agents are looked at, at most and at least.
const LOOKS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

/// When agents are let go.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestingLimits {
    time: Duration,
    count: usize,
}

/// What an agent is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A turn: it does not rest.
    Turn,
    /// Somebody wants to know something. Whoever looks again and again does not keep it.
    Look,
}

/// The agents that were made, and what is left of those that were let go.
#[derive(Default)]
pub(super) struct Kept {
    caches: HashMap<CacheKey, Entry>,
    remains: HashMap<CacheKey, AgentRemains>,
}

struct Entry {
    cache: Arc<AgentCache>,
    used: Instant,
    /// Whether a turn ever used it: without one there is nothing to remember.
    has_turned: bool,
}

impl RestingLimits {
    pub(super) fn of(settings: &ServeSettings) -> Self {
        let seconds = settings.idle_agent_seconds.unwrap_or(IDLE_SECONDS);
        Self {
            time: Duration::from_secs(seconds.into()),
            count: settings.idle_agents.unwrap_or(MOST_IDLE) as usize,
        }
    }

    pub(super) fn look_every(&self) -> Duration {
        (self.time / 4).clamp(LOOKS.0, LOOKS.1)
    }
}

impl Kept {
    pub(super) fn get(&mut self, key: &CacheKey, how: Use) -> Option<Arc<AgentCache>> {
        let entry = self.caches.get_mut(key)?;
        if how == Use::Turn {
            entry.used = Instant::now();
            entry.has_turned = true;
        }
        Some(Arc::clone(&entry.cache))
    }

    pub(super) fn look(&self, key: &CacheKey) -> Option<Arc<AgentCache>> {
        self.caches.get(key).map(|entry| Arc::clone(&entry.cache))
    }

    /// Keeps an agent, in place of one that was there.
    pub(super) fn put(&mut self, key: CacheKey, cache: Arc<AgentCache>, how: Use) {
        let before = self.caches.get(&key).is_some_and(|entry| entry.has_turned);
        let entry = Entry {
            cache,
            used: Instant::now(),
            has_turned: before || how == Use::Turn,
        };
        self.caches.insert(key, entry);
    }

    /// Returns what is left of an agent that was let go.
    pub(super) fn remains(&self, key: &CacheKey) -> Option<&AgentRemains> {
        self.remains.get(key)
    }

    pub(super) fn known(&self) -> Vec<(CacheKey, Arc<AgentCache>)> {
        let known = self.caches.iter();
        known
            .map(|(key, entry)| (key.clone(), Arc::clone(&entry.cache)))
            .collect()
    }

    /// Takes out what rests for too long, and the longest resting of too many; never what somebody uses. It is returned to be dropped
    /// without the lock.
    pub(super) fn let_go(&mut self, limits: &RestingLimits) -> Vec<Arc<AgentCache>> {
        let now = Instant::now();
        for entry in self.caches.values_mut() {
            // Rest begins when the last turn has ended.
            if Arc::strong_count(&entry.cache) > 1 || entry.cache.is_used() {
                entry.used = now;
            }
        }
        let mut resting: Vec<(Instant, CacheKey)> = self
            .caches
            .iter()
            .filter(|(_, entry)| entry.used < now)
            .map(|(key, entry)| (entry.used, key.clone()))
            .collect();
        resting.sort();
        let too_many = resting.len().saturating_sub(limits.count);
        let goes = |(at, (used, _)): &(usize, (Instant, CacheKey))| {
            *at < too_many || now.duration_since(*used) >= limits.time
        };
        let going = resting.into_iter().enumerate().filter(goes);
        let mut gone = Vec::new();
        for (_, (_, key)) in going.collect::<Vec<_>>() {
            if let Some(entry) = self.caches.remove(&key) {
                if entry.has_turned {
                    self.remains.insert(key, entry.cache.factory.remains());
                }
                gone.push(entry.cache);
            }
        }
        gone
    }
}
