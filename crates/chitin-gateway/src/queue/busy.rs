//! The sessions that have something to do. One that has nothing takes no memory.

use super::{PendingMessages, QueueSettings, QueuedMessage};
use crate::gateway::{Gateway, Inner};
use crate::jobs::{Job, Sender};
use crate::subagents::tree::STOPPED;
use crate::turns::DelayedJob;
use crate::turns::outage::Delay;
use chitin_agent::turn::{Steer, Steering};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Which parts of a job are done already, from before a restart.
pub(crate) type Marks = HashSet<String>;

/// The sessions that have something to do.
#[derive(Debug, Default)]
pub(crate) struct Busy(Mutex<HashMap<String, Session>>);

/// A session that has something to do.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// What goes before all that waits.
    pub(crate) first: VecDeque<(Job, Marks)>,
    /// Messages that wait.
    pub(crate) pending: PendingMessages<Job>,
    /// How messages wait, as the last one said.
    pub(crate) settings: Option<QueueSettings>,
    /// The turn that waits for room in its lane.
    pub(crate) entering: Option<(String, CancellationToken)>,
    /// The turn that runs.
    pub(crate) active: Option<Active>,
    /// Whether a turn runs or its reply is delivered.
    pub(crate) is_at_work: bool,
    /// The job, the first one, that is tried again.
    pub(crate) delay: Option<Delay>,
}

/// A turn that runs.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    pub(crate) job: Arc<Job>,
    pub(crate) steering: Steering,
    /// Jobs whose words went into the turn.
    pub(crate) steered: Vec<Job>,
    pub(crate) cancel: CancellationToken,
    /// Why it was stopped, if it was.
    pub(crate) cause: Option<StopCause>,
    pub(crate) since_ms: i64,
    /// Marks of what its tools said where people read it.
    pub(crate) said: HashSet<String>,
}

/// A session that has something to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BusySession {
    /// The session.
    pub session_key: String,
    /// The job whose turn runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// Since when, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// How many jobs wait.
    pub waiting: usize,
    /// The job that waits for the end of an outage; the others wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed: Option<DelayedJob>,
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

impl Busy {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Tells whether a job waits or runs here.
    pub(crate) fn has(&self, job_id: &str) -> bool {
        let active = self.active.iter();
        active
            .flat_map(|active| std::iter::once(&*active.job).chain(&active.steered))
            .chain(self.first.iter().map(|(job, _)| job))
            .chain(self.pending.iter())
            .any(|job| job.id == job_id)
    }

    pub(crate) fn new(settings: QueueSettings) -> Self {
        Self {
            settings: Some(settings),
            ..Self::default()
        }
    }

    /// Puts a job's words into the turn that runs, or gives the job back.
    pub(crate) fn steer(&mut self, job: Job) -> Result<(), Box<Job>> {
        let active = self.active.as_mut();
        let fits = |active: &&mut Active| {
            // News that is to be told elsewhere needs a turn of its own; so do words of somebody with other rights than those of
            // the turn.
            active.cause.is_none()
                && (job.about.is_none() || active.job.deliver == job.deliver)
                && Sender::may_the_same(active.job.sender.as_ref(), job.sender.as_ref())
        };
        let Some(active) = active.filter(fits) else {
            return Err(Box::new(job));
        };
        let steer = Steer {
            words: job.words().to_owned(),
            images: job.images.clone(),
            key: Some(job.id.clone()),
            provenance: job.provenance.clone(),
            written: job.written.first().cloned(),
            origins: job.origins.clone(),
        };
        match active.steering.push(steer) {
            Ok(()) => {
                active.steered.push(job);
                Ok(())
            }
            Err(_) => Err(Box::new(job)),
        }
    }

    /// Tells whether the turn that runs may be stopped for a job: its sender's own, or the owner says so.
    pub(crate) fn yields_to(&self, job: &Job) -> bool {
        let sender = job.sender.as_ref();
        let active = self
            .active
            .as_ref()
            .map(|active| active.job.sender.as_ref());
        sender.is_none_or(|sender| sender.is_owner)
            || active.is_none_or(|active| Sender::may_the_same(active, sender))
    }

    /// Stops the turn that runs, or waits for room to run; tells whether there is one.
    pub(crate) fn stop(&mut self, cause: StopCause) -> bool {
        match (&mut self.active, &self.entering) {
            (Some(active), _) => {
                active.cause.get_or_insert(cause);
                active.cancel.cancel();
                true
            }
            // A newer message takes the place of a turn, not of words that were not heard yet.
            (None, Some((_, stop))) if cause == StopCause::Wanted => {
                stop.cancel();
                true
            }
            (None, _) => self.stop_delayed(),
        }
    }

    /// Stops the turn of a job, wherever it is.
    pub(crate) fn stop_job(&mut self, job_id: &str) {
        for (job, marks) in &mut self.first {
            if job.id == job_id {
                marks.insert(STOPPED.to_owned());
            }
        }
        self.wake_job(job_id);
        if let Some((_, stop)) = self.entering.as_ref().filter(|(id, _)| id == job_id) {
            stop.cancel();
        }
        let active = self.active.as_mut();
        if let Some(active) = active.filter(|active| active.job.id == job_id) {
            active.cause.get_or_insert(StopCause::Wanted);
            active.cancel.cancel();
        }
    }
}

impl Gateway {
    /// Tells whether a job waits or runs.
    pub fn is_open(&self, job_id: &str) -> bool {
        let busy = self.0.busy.lock();
        busy.values().any(|session| session.has(job_id))
    }

    /// Returns the sessions that have something to do.
    pub fn busy(&self) -> Vec<BusySession> {
        let busy = self.0.busy.lock();
        let mut found: Vec<BusySession> = busy
            .iter()
            .map(|(key, session)| BusySession {
                session_key: key.clone(),
                job_id: session.active.as_ref().map(|active| active.job.id.clone()),
                since_ms: session.active.as_ref().map(|active| active.since_ms),
                waiting: session.first.len() + session.pending.len(),
                delayed: session.delayed().cloned(),
            })
            .collect();
        found.sort_by(|one, other| one.session_key.cmp(&other.session_key));
        found
    }
}

impl Inner {
    /// Returns the job whose turn runs in a session.
    pub(crate) fn turn_of(&self, session_key: &str) -> Option<Arc<Job>> {
        let busy = self.busy.lock();
        let active = busy.get(session_key)?.active.as_ref()?;
        Some(Arc::clone(&active.job))
    }
}
