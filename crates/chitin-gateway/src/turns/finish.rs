//! What follows from a job that is over, and how turns are stopped.

use super::stop::Quietly;
use crate::gateway::Inner;
use crate::jobs::log::opening;
use crate::jobs::{Job, JobOutcome};
use crate::queue::busy::Marks;
use crate::subagents::announce::settle::{Aftermath, left, reopening};
use crate::subagents::tree::Leaving;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Inner {
    /// Takes a job out of the ledger, with those whose words its turn heard, and puts what follows from it in: one step.
    pub(crate) async fn finish(
        self: &Arc<Self>,
        job: &Job,
        steered: Vec<(Job, JobOutcome)>,
        outcome: &JobOutcome,
        marks: Marks,
    ) {
        let (steered, ends): (Vec<Job>, Vec<JobOutcome>) = steered.into_iter().unzip();
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
                None => changes.push(self.ending(job, outcome)),
            }
            let ended = steered.iter().zip(&ends);
            changes.extend(ended.map(|(job, outcome)| self.ending(job, outcome)));
            if waits {
                let again = changes.clone();
                (after, Some((self.submit(changes), again)))
            } else {
                // Should this be lost, the job is found to be over when it is taken up again.
                self.parts.ledger.note(changes);
                (after, None)
            }
        };
        if let Some((written, changes)) = written
            && let Err(error) = written.await
        {
            (self.parts.note)(&format!(
                "could not store follow-up jobs: {error}. They are stored when the job log can be written again."
            ));
            self.parts.ledger.note(changes);
        }
        let gone = steered.len() + usize::from(after.again.is_none());
        self.open.fetch_add(after.jobs.len(), Ordering::Relaxed);
        self.open.fetch_sub(gone, Ordering::Relaxed);
        self.go_on(after, marks);
    }

    /// Begins what follows.
    pub(crate) fn go_on(self: &Arc<Self>, after: Aftermath, marks: Marks) {
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
    pub(crate) fn put_later(self: &Arc<Self>, job: Job, marks: Marks) {
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
    pub(crate) fn take_away(self: &Arc<Self>, leaving: Leaving) {
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            let removed = inner.remove_session(&leaving).await;
            if let Err(error) = removed {
                let key = &leaving.session_key;
                (inner.parts.note)(&format!("could not delete `{key}`: {error}"));
            }
            inner.parts.ledger.note(vec![left(&leaving)]);
        });
    }
}
