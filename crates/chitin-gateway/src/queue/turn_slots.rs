//! How many turns run at once, by kind. Whoever came first goes first, whatever session it is of.

use super::lane::TurnConcurrency;
use crate::jobs::{Job, JobKind};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The lanes that turns of all sessions share.
#[derive(Debug)]
pub(crate) struct TurnSlots {
    main: Arc<Semaphore>,
    subagent: Arc<Semaphore>,
    scheduled: Arc<Semaphore>,
    /// Turns that another turn may wait for. They have room of their own, so that the two never wait for each other.
    inside: Arc<Semaphore>,
    /// Turns that gave their room back because their model says nothing, or a person is asked.
    silent: Arc<Semaphore>,
}

/// The room of a turn.
#[derive(Debug)]
pub(crate) struct TurnSlot {
    /// Given back when it is dropped.
    room: Option<OwnedSemaphorePermit>,
    silent: Arc<Semaphore>,
    silence: Option<OwnedSemaphorePermit>,
}

impl TurnSlot {
    /// Gives the room to another turn, because this one waits for a silent model or for a person; not without end.
    pub(crate) fn lend(&mut self) {
        if self.room.is_some()
            && let Ok(silence) = Arc::clone(&self.silent).try_acquire_owned()
        {
            self.silence = Some(silence);
            self.room = None;
        }
    }

    /// Gives the room back, because this turn may not begin yet.
    pub(crate) fn leave(&mut self) {
        self.room = None;
    }

    /// Takes the room of another slot.
    pub(crate) fn take_over(&mut self, other: Self) {
        *self = other;
    }
}

/// How many turns that wait run beside the others: so many times those.
const SILENT: usize = 3;

impl TurnSlots {
    pub(crate) fn new(concurrency: TurnConcurrency) -> Self {
        let lane = |size: u32| Arc::new(Semaphore::new(size as usize));
        Self {
            main: lane(concurrency.agent),
            subagent: lane(concurrency.subagent),
            scheduled: lane(concurrency.agent),
            inside: lane(concurrency.agent),
            silent: Arc::new(Semaphore::new(
                (concurrency.agent + concurrency.subagent) as usize * SILENT,
            )),
        }
    }

    /// Waits for room; the room is given back when the permit is dropped.
    pub(crate) async fn enter(&self, job: &Job) -> Option<TurnSlot> {
        let lane = match job.kind {
            JobKind::Subagent => &self.subagent,
            JobKind::Cron => &self.scheduled,
            // News for a subagent is a turn of that subagent.
            JobKind::Announce if job.child.is_some() => &self.subagent,
            JobKind::SessionSend => &self.inside,
            JobKind::Message | JobKind::Announce | JobKind::Heartbeat => &self.main,
        };
        // A lane is never closed.
        let room = Arc::clone(lane).acquire_owned().await.ok()?;
        Some(TurnSlot {
            room: Some(room),
            silent: Arc::clone(&self.silent),
            silence: None,
        })
    }
}
