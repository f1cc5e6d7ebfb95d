//! What follows from a job that is over, and how turns are stopped.

use super::announcing::{Aftermath, left, reopening};
use super::sessions::{Marks, StopCause};
use super::tree::{Leaving, NodeState, STOPPED, STOPPED_QUIETLY};
use super::{Inner, What, closing, opening};
use crate::job::{Job, Outcome, Status};
use chitin_store::Change;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Inner {
    /// Takes a job out of the ledger, with those whose words its turn heard, and puts what follows from it in: one step.
    pub(super) async fn finish(
        self: &Arc<Self>,
        job: &Job,
        steered: Vec<Job>,
        outcome: &Outcome,
        marks: Marks,
    ) {
        self.note_end(job, outcome).await;
        let (after, written) = {
            // What the books say and what the ledger says change in the same order.
            let mut nodes = self.tree.lock();
            let after = self.aftermath(&mut nodes, job, &steered, outcome);
            let mut changes = after.changes.clone();
            changes.extend(after.jobs.iter().map(opening));
            let waits = !changes.is_empty() || after.again.is_some();
            match &after.again {
                Some(again) => changes.extend(reopening(again, marks.iter().cloned())),
                None => changes.push(closing(&job.id)),
            }
            changes.extend(steered.iter().map(|job| closing(&job.id)));
            if waits {
                (after, Some(self.submit(changes)))
            } else {
                // Should this be lost, the job is found to be over when it is taken up again.
                self.parts.ledger.note(changes);
                (after, None)
            }
        };
        if let Some(written) = written
            && let Err(error) = written.await
        {
            (self.parts.note)(&format!("what follows could not be kept: {error}"));
        }
        let gone = steered.len() + usize::from(after.again.is_none());
        self.open.fetch_add(after.jobs.len(), Ordering::Relaxed);
        self.open.fetch_sub(gone, Ordering::Relaxed);
        self.go_on(after, marks);
    }

    /// Begins what follows.
    pub(super) fn go_on(self: &Arc<Self>, after: Aftermath, marks: Marks) {
        for note in &after.notes {
            (self.parts.note)(note);
        }
        for key in &after.stopped {
            self.stop_run(key, Quietly::Yes);
        }
        for key in &after.freed {
            self.unbind(key);
        }
        for leaving in after.leaving {
            self.take_away(leaving);
        }
        if let Some(again) = after.again {
            self.put_later(again, marks);
        }
        for job in after.jobs {
            self.put_first(job, Marks::new());
        }
    }

    /// Puts a job that was begun before back into its session, when its time has come.
    pub(super) fn put_later(self: &Arc<Self>, job: Job, marks: Marks) {
        let due = job.about.as_ref().and_then(|about| about.not_before);
        let wait = due.unwrap_or_default() - self.parts.clock.now_ms();
        let Ok(wait @ 1..) = u64::try_from(wait) else {
            self.put_back(job, marks);
            return;
        };
        let inner = Arc::downgrade(self);
        // Not one of the tasks that an end waits for: the ledger keeps it.
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            if let Some(inner) = inner.upgrade()
                && !inner.closing.load(Ordering::Relaxed)
            {
                inner.put_back(job, marks);
            }
        });
    }

    /// Takes a session away, with its transcript.
    pub(super) fn take_away(self: &Arc<Self>, leaving: Leaving) {
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            let removed = inner.remove_session(&leaving).await;
            if let Err(error) = removed {
                let key = &leaving.session_key;
                (inner.parts.note)(&format!("`{key}` could not be taken away: {error}"));
            }
            inner.parts.ledger.note(vec![left(&leaving)]);
        });
    }

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
    pub(super) fn stop_run(self: &Arc<Self>, child_key: &str, quietly: Quietly) -> usize {
        let (job_id, mark) = {
            let mut nodes = self.tree.lock();
            let Some(node) = nodes.get_mut(child_key) else {
                return 0;
            };
            node.quiet |= quietly == Quietly::Yes;
            match &mut node.state {
                NodeState::Told => return 0,
                NodeState::Waits(ended) => {
                    ended.outcome.status = Status::Stopped;
                    // What it waits for is stopped too, and its end is told then.
                    let waiting = node.waiting(child_key);
                    let body = serde_json::to_value(waiting).unwrap_or_default();
                    let id = format!("{}{child_key}", super::tree::WAITS);
                    self.parts.ledger.note(vec![Change::Open { id, body }]);
                    return 1;
                }
                NodeState::Runs => {}
            }
            let mark = if node.quiet { STOPPED_QUIETLY } else { STOPPED };
            (node.job_id.clone(), mark.to_owned())
        };
        let id = job_id.clone();
        self.parts.ledger.note(vec![Change::Mark { id, mark }]);
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
            self.parts.ledger.note(vec![closing(&job.id)]);
            self.tell(&job.session_key, &job.id, || What::Dropped {
                reason: "its session was stopped".to_owned(),
            });
        }
        self.open.fetch_sub(gone.len(), Ordering::Relaxed);
        gone.len()
    }
}

/// Whether nobody is to hear that a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quietly {
    /// Its parent is told.
    No,
    /// Its parent knows, or is stopped itself.
    Yes,
}
