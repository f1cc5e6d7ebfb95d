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
}

impl TurnSlots {
    pub(crate) fn new(concurrency: TurnConcurrency) -> Self {
        let lane = |size: u32| Arc::new(Semaphore::new(size as usize));
        Self {
            main: lane(concurrency.agent),
            subagent: lane(concurrency.subagent),
            scheduled: lane(concurrency.agent),
            inside: lane(concurrency.agent),
        }
    }

    /// Waits for room; the room is given back when the permit is dropped.
    pub(crate) async fn enter(&self, job: &Job) -> Option<OwnedSemaphorePermit> {
        let lane = match job.kind {
            JobKind::Subagent => &self.subagent,
            JobKind::Cron => &self.scheduled,
            // News for a subagent is a turn of that subagent.
            JobKind::Announce if job.child.is_some() => &self.subagent,
            JobKind::SessionSend => &self.inside,
            JobKind::Message | JobKind::Announce | JobKind::Heartbeat => &self.main,
        };
        // A lane is never closed.
        Arc::clone(lane).acquire_owned().await.ok()
    }
}
