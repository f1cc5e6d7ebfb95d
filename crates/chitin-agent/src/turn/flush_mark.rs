//! The index entry of a memory flush, so that a restart does not repeat it.

use super::{Running, TurnError};
use crate::compat;
use chitin_contract::{FlushMark, MemoryFlushRules};
use chitin_store::SessionEntry;
use serde_json::{Value, json};

impl Running<'_> {
    /// Marks a successful flush in the index.
    pub(super) async fn mark_flushed(&mut self) -> Result<(), TurnError> {
        let now_ms = self.agent.parts.clock.now_ms();
        let mark = self.flush_rules().mark;
        self.records
            .session
            .update(move |entry| succeeded(entry, mark, now_ms))
            .await
    }

    /// Counts a failed flush in the index, if the release counts them. If that fails too, there is a note and no more.
    pub(super) async fn count_failure(&mut self) {
        let rules = *self.flush_rules();
        let (mark, now_ms) = (rules.mark, self.agent.parts.clock.now_ms());
        let Some(most) = rules.most_failures.filter(|_| mark == FlushMark::Outcome) else {
            return;
        };
        let counted = self.records.session.update(move |entry| {
            let failures = failures(entry) + 1;
            if failures >= u64::from(most) {
                succeeded(entry, mark, now_ms);
            } else {
                let mut failed = json!({
                    "kind": compat::FLUSH_FAILED,
                    "failureCount": failures,
                });
                if let Some(count) = flushed_at(entry) {
                    failed["compactionCount"] = count.into();
                }
                entry.memory_flush = Some(failed);
            }
        });
        if let Err(error) = counted.await {
            self.sink.note(&error.to_string()).await;
        }
    }

    const fn flush_rules(&self) -> &'static MemoryFlushRules {
        &self.agent.parts.contract.runtime.memory.flush
    }
}

/// Marks the flush as done for the next compaction.
fn succeeded(entry: &mut SessionEntry, mark: FlushMark, now_ms: i64) {
    let count = entry.compaction_count.unwrap_or(0);
    match mark {
        FlushMark::CountAndTime => {
            entry.memory_flush_at = Some(now_ms);
            entry.memory_flush_compaction_count = Some(count);
        }
        FlushMark::Outcome => {
            entry.memory_flush = Some(json!({
                "kind": compat::FLUSH_SUCCEEDED,
                "compactionCount": count,
            }));
        }
    }
}

/// Returns the number of compactions at the last flush, whichever release wrote it.
pub(super) fn flushed_at(entry: &SessionEntry) -> Option<u64> {
    let outcome = entry.memory_flush.as_ref();
    let later = outcome.and_then(|outcome| outcome.get("compactionCount")?.as_u64());
    later.max(entry.memory_flush_compaction_count)
}

/// Returns how many attempts in a row failed.
fn failures(entry: &SessionEntry) -> u64 {
    let outcome = entry.memory_flush.as_ref();
    let count = outcome.and_then(|outcome| outcome.get("failureCount"));
    count.and_then(Value::as_u64).unwrap_or(0)
}
