//! A panic in a turn is caught at the edge of its task: the job is closed as failed, whoever waits is told, and the session
//! serves the next message.

use crate::events::EventKind;
use crate::gateway::Inner;
use crate::jobs::Job;
use crate::jobs::log::closing;
use crate::queue::busy::Marks;
use futures_util::FutureExt;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much of a panic's message is kept, in characters.
const MOST_CHARS: usize = 300;

/// How far a job came before a panic: whether its end was being written to the job log.
#[derive(Debug, Default)]
pub(crate) struct RunStage(AtomicBool);

impl RunStage {
    /// From here on the job leaves the job log.
    pub(crate) fn settles(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_settling(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Waits for a future; a panic in it comes back as its message.
///
/// What the future borrowed is used again afterwards: all state that turns share is behind locks that recover from poisoning.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    done.map_err(|panic| message_of(&*panic))
}

/// Says what a panic means for whoever waits for the turn.
pub(crate) fn as_error(panic: &str) -> String {
    format!("an internal error stopped the turn ({panic}); send the message again to retry")
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "a panic without a message".to_owned());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_CHARS).collect()
}

impl Inner {
    /// Runs a job to its end, and closes it when a panic keeps it from getting there.
    pub(crate) async fn run_caught(self: &Arc<Self>, job: Job, marks: Marks) {
        let (job, stage) = (Arc::new(job), RunStage::default());
        let running = self.run(Arc::clone(&job), marks.clone(), &stage);
        let ran = caught(running).await;
        if let Some(session) = self.busy.lock().get_mut(&job.session_key) {
            session.is_at_work = false;
        }
        let Err(panic) = ran else {
            return;
        };
        self.note_panic(&job, &panic);
        if self.turnstile.has_left() {
            // The next process closes it, or has better luck.
            return;
        }
        if let Err(panic) = caught(self.close_panicked(&job, marks, &stage, &panic)).await {
            self.note_panic(&job, &panic);
            self.parts.ledger.note(vec![closing(&job.id)]);
        }
        self.end_delay(&job, false);
        self.leave(&job);
    }

    /// Tells people that a turn panicked.
    pub(crate) fn note_panic(&self, job: &Job, panic: &str) {
        (self.parts.note)(&format!(
            "Internal error: the turn of job `{}` in `{}` panicked: {panic}. The session goes on with its next message.",
            job.id, job.session_key
        ));
    }

    /// Closes a job whose turn panicked outside of the model's work, as one that failed.
    async fn close_panicked(
        self: &Arc<Self>,
        job: &Arc<Job>,
        marks: Marks,
        stage: &RunStage,
        panic: &str,
    ) {
        let active = {
            let busy = self.busy.lock();
            let session = busy.get(&job.session_key);
            session.and_then(|session| session.active.clone())
        };
        let active = active.filter(|active| active.job.id == job.id);
        let began = active.as_ref().map(|active| active.since_ms);
        let began = began.unwrap_or_else(|| self.parts.clock.now_ms());
        let (cause, steered) = match &active {
            Some(active) => self.end(job, &active.steering),
            None => (None, Vec::new()),
        };
        let outcome = self.outcome(Err(as_error(panic)), cause, began);
        let ids: Vec<String> = steered.iter().map(|job| job.id.clone()).collect();
        if stage.is_settling() {
            // What follows from the job may be in the job log already, so that only its end is written.
            let gone = ids.iter().chain([&job.id]);
            self.parts.ledger.note(gone.map(|id| closing(id)).collect());
        } else {
            let steered = steered.into_iter();
            let steered = steered.map(|job| (job, outcome.clone())).collect();
            self.finish(job, steered, &outcome, marks).await;
        }
        for id in ids.iter().chain([&job.id]) {
            let outcome = outcome.clone();
            self.tell(&job.session_key, id, || EventKind::Finished { outcome });
        }
        self.hub.forget(&job.id);
    }

    /// Marks a session as one whose turn does not run any more, whatever is left of it.
    fn leave(&self, job: &Job) {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(&job.session_key) else {
            return;
        };
        if session
            .active
            .as_ref()
            .is_some_and(|active| active.job.id == job.id)
        {
            session.active = None;
        }
        if session
            .entering
            .as_ref()
            .is_some_and(|(id, _)| *id == job.id)
        {
            session.entering = None;
        }
    }
}
