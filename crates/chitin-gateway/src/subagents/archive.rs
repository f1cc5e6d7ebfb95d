//! Children that are long done are put away (R32): their sessions go into the archive, where pruning finds them.

use super::position::is_run;
use crate::gateway::Inner;
use crate::host::AgentSummary;
use chitin_protocol::session_key;
use chitin_store::TranscriptRemoval;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How often is looked for them at most, in milliseconds.
const PAUSE_MS: i64 = 60_000;

impl Inner {
    /// Puts children away that are long done. Called whenever a child begins; looks no more than once a minute.
    pub(crate) fn put_away(self: &Arc<Self>) {
        let now = self.parts.clock.now_ms();
        let last = self.put_away_at.load(Ordering::Relaxed);
        let mine = now - last >= PAUSE_MS
            && self
                .put_away_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !mine {
            return;
        }
        let inner = Arc::clone(self);
        self.tasks.spawn_blocking(move || {
            for agent in inner.parts.host.agents() {
                inner.put_away_of(&agent, now);
            }
        });
    }

    fn put_away_of(&self, agent: &AgentSummary, now: i64) {
        let Some(after) = self.spawn_limits(&agent.id).archive_after else {
            return;
        };
        let Ok(store) = self.parts.host.store(&agent.id) else {
            return;
        };
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        let grammar = self.parts.contract.session_keys;
        // What cannot be read now is looked at another time.
        let _ = store.each(&mut |key, entry| {
            let over = entry
                .ended_at
                .is_some_and(|ended| ended.max(entry.updated_at).saturating_add(after) < now);
            let idle =
                || self.tree.lock().get(&key).is_none() && !self.busy.lock().contains_key(&key);
            if over && session_key::is_subagent(&key, grammar) && is_run(&entry) && idle() {
                let now = self.parts.clock.now();
                // One that is in use after all is put away another time.
                let _ = store.remove(&key, TranscriptRemoval::Archive { now: &now });
            }
        });
    }
}
