//! What follows from a job that is over.

use super::sessions::StopCause;
use super::{Inner, What, closing, opening};
use crate::job::{Job, Outcome};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Inner {
    /// Takes a job out of the ledger, with those whose words its turn heard, and puts what follows from it in: one step.
    pub(super) async fn finish(self: &Arc<Self>, job: &Job, steered: Vec<Job>, outcome: &Outcome) {
        let following = self.following(job, outcome);
        let mut changes: Vec<_> = following.iter().map(opening).collect();
        changes.push(closing(&job.id));
        changes.extend(steered.iter().map(|job| closing(&job.id)));
        if following.is_empty() {
            // Should this be lost, the job is found to be over when it is taken up again.
            self.parts.ledger.note(changes);
        } else if let Err(error) = self.write(changes).await {
            (self.parts.note)(&format!("what follows could not be kept: {error}"));
        }
        self.open.fetch_add(following.len(), Ordering::Relaxed);
        self.open.fetch_sub(1 + steered.len(), Ordering::Relaxed);
        for job in following {
            self.put_first(job, std::collections::HashSet::new());
        }
    }

    /// Returns what follows from a job that is over.
    fn following(&self, job: &Job, outcome: &Outcome) -> Vec<Job> {
        let _ = (self, job, outcome);
        Vec::new()
    }

    /// Stops the turn of a session; with `all`, what waits goes too. Returns how many turns and messages that were.
    pub(crate) fn stop(&self, session_key: &str, cause: StopCause, all: bool) -> usize {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(session_key) else {
            return 0;
        };
        let gone = if all {
            session.pending.clear()
        } else {
            Vec::new()
        };
        let stopped = usize::from(session.stop(cause));
        drop(busy);
        for job in &gone {
            self.parts.ledger.note(vec![closing(&job.id)]);
            self.tell(&job.session_key, &job.id, || What::Dropped {
                reason: "its session was stopped".to_owned(),
            });
        }
        self.open.fetch_sub(gone.len(), Ordering::Relaxed);
        stopped + gone.len()
    }
}
