//! The sessions that have something to do. One that has nothing takes no memory.

use crate::job::Job;
use crate::queue::{Pending, QueueSettings};
use chitin_agent::turn::Steering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Which parts of a job are done already, from before a restart.
pub(super) type Marks = HashSet<String>;

/// The sessions that have something to do.
#[derive(Debug, Default)]
pub(super) struct Busy(Mutex<HashMap<String, Session>>);

/// A session that has something to do.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// What goes before all that waits.
    pub(super) first: VecDeque<(Job, Marks)>,
    /// Messages that wait.
    pub(super) pending: Pending<Job>,
    /// How messages wait, as the last one said.
    pub(super) settings: Option<QueueSettings>,
    /// The turn that waits for room in its lane.
    pub(super) entering: Option<(String, CancellationToken)>,
    /// The turn that runs.
    pub(super) active: Option<Active>,
}

/// A turn that runs.
#[derive(Debug, Clone)]
pub(super) struct Active {
    pub(super) job: Arc<Job>,
    pub(super) steering: Steering,
    /// Jobs whose words went into the turn.
    pub(super) steered: Vec<Job>,
    pub(super) cancel: CancellationToken,
    /// Why it was stopped, if it was.
    pub(super) cause: Option<StopCause>,
    pub(super) since_ms: i64,
    /// Marks of what its tools said where people read it.
    pub(super) said: HashSet<String>,
}

/// Why a turn was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// Somebody wanted it.
    Wanted,
    /// A newer message took its place.
    Interrupted,
    /// Its time was over.
    TimedOut,
}

impl Session {
    /// Tells whether a job waits or runs here.
    pub(super) fn has(&self, job_id: &str) -> bool {
        let active = self.active.iter();
        active
            .flat_map(|active| std::iter::once(&*active.job).chain(&active.steered))
            .chain(self.first.iter().map(|(job, _)| job))
            .chain(self.pending.iter())
            .any(|job| job.id == job_id)
    }
}

impl Busy {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
