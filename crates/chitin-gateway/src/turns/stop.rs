//! Turns that are stopped: by a user, by a newer message, or because the run above them ended.

use crate::events::EventKind;
use crate::gateway::{Gateway, Inner};
use crate::jobs::{JobOutcome, JobStatus};
use crate::queue::StopCause;
use crate::subagents::tree::{NodeState, STOPPED, STOPPED_QUIETLY, WAITS};
use chitin_store::JobChange;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Gateway {
    /// Stops the turn of a session, lets go what waits there, and stops all runs below it. Returns how many turns and messages that were.
    pub fn stop(&self, session_key: &str) -> usize {
        self.0.stop(session_key, StopCause::Wanted, true)
    }
}

impl Inner {
    /// Stops the turn of a session and those of all runs below it; with `all`, what waits goes too. Returns how many turns and
    /// messages that were.
    pub(crate) fn stop(self: &Arc<Self>, session_key: &str, cause: StopCause, all: bool) -> usize {
        let below = self.tree.lock().below(session_key);
        let run = self.stop_run(session_key, Quietly::No);
        let mut stopped = self.stop_turn(session_key, cause).max(run);
        // Their parents are stopped with them and have nobody to hear it.
        for key in &below {
            stopped += self.stop_run(key, Quietly::Yes);
        }
        if all {
            stopped += self.clear(session_key);
        }
        stopped
    }

    /// Stops a run that another session began, whether it runs already or not. It stays stopped after a crash.
    pub(crate) fn stop_run(self: &Arc<Self>, child_key: &str, quietly: Quietly) -> usize {
        let (job_id, mark) = {
            let mut nodes = self.tree.lock();
            let Some(node) = nodes.get_mut(child_key) else {
                return 0;
            };
            node.quiet |= quietly == Quietly::Yes;
            match &mut node.state {
                NodeState::Told => return 0,
                NodeState::Waits(ended) => {
                    ended.outcome.status = JobStatus::Stopped;
                    // What it waits for is stopped too, and its end is told then.
                    let waiting = node.waiting(child_key);
                    let body = serde_json::to_value(waiting).unwrap_or_default();
                    let id = format!("{WAITS}{child_key}");
                    self.parts.ledger.note(vec![JobChange::Open { id, body }]);
                    return 1;
                }
                NodeState::Runs => {}
            }
            let mark = if node.quiet { STOPPED_QUIETLY } else { STOPPED };
            (node.job_id.clone(), mark.to_owned())
        };
        let id = job_id.clone();
        self.parts.ledger.note(vec![JobChange::Mark { id, mark }]);
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(child_key) else {
            return 0;
        };
        session.stop_job(&job_id);
        1
    }

    fn stop_turn(&self, session_key: &str, cause: StopCause) -> usize {
        let mut busy = self.busy.lock();
        let session = busy.get_mut(session_key);
        session.map_or(0, |session| usize::from(session.stop(cause)))
    }

    fn clear(&self, session_key: &str) -> usize {
        let mut busy = self.busy.lock();
        let session = busy.get_mut(session_key);
        let gone = session.map_or_else(Vec::new, |session| session.pending.clear());
        drop(busy);
        for job in &gone {
            let reason = "its session was stopped";
            let outcome = JobOutcome::without_turn(JobStatus::Stopped, reason);
            self.parts.ledger.note(vec![self.ending(job, &outcome)]);
            self.tell(&job.session_key, &job.id, || EventKind::Dropped {
                reason: reason.to_owned(),
            });
        }
        self.open.fetch_sub(gone.len(), Ordering::Relaxed);
        gone.len()
    }
}

/// Whether nobody is to hear that a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quietly {
    /// Its parent is told.
    No,
    /// Its parent knows, or is stopped itself.
    Yes,
}
