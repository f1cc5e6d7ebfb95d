//! The jobs of this process.

use super::job::CommandProcess;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How many jobs may run at once, when the settings say nothing.
const RUNNING: usize = 16;
/// How many jobs that ended are kept.
const KEPT: usize = 32;
/// How long a job that ended is kept.
const KEPT_FOR: Duration = Duration::from_mins(30);
/// How long dropping the registry waits for the last process.
const PATIENCE: Duration = Duration::from_secs(2);

/// The jobs of this process. Dropping it ends all of them.
#[derive(Debug)]
pub struct Jobs {
    limit: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    jobs: Vec<(String, Arc<CommandProcess>)>,
}

/// There is no room for another job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{0} commands are already running in the background; stop one with `process` first")]
pub struct JobsFull(pub usize);

impl Default for Jobs {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Jobs {
    /// Makes an empty registry with room for so many running jobs; left out, 16.
    pub fn new(limit: Option<u32>) -> Self {
        Self {
            limit: limit.map_or(RUNNING, |limit| limit as usize),
            inner: Mutex::default(),
        }
    }

    /// Takes a job in and returns its id.
    pub fn add(&self, job: Arc<CommandProcess>) -> Result<String, JobsFull> {
        let mut inner = self.lock();
        tidy(&mut inner);
        let running = inner
            .jobs
            .iter()
            .filter(|(_, job)| job.ending().is_none())
            .count();
        if running >= self.limit {
            return Err(JobsFull(running));
        }
        inner.last += 1;
        let id = format!("job-{}", inner.last);
        inner.jobs.push((id.clone(), job));
        Ok(id)
    }

    /// Says whether another job finds room.
    pub fn has_room(&self) -> bool {
        let inner = self.lock();
        let running = inner.jobs.iter().filter(|(_, job)| job.ending().is_none());
        running.count() < self.limit
    }

    /// Tells whether none runs, and none ended so lately that somebody may ask for its output.
    pub fn is_empty(&self) -> bool {
        let mut inner = self.lock();
        tidy(&mut inner);
        inner.jobs.is_empty()
    }

    /// Returns a job of a session.
    pub fn get(&self, session_key: &str, id: &str) -> Option<Arc<CommandProcess>> {
        self.lock()
            .jobs
            .iter()
            .find(|(known, job)| known == id && job.session_key == session_key)
            .map(|(_, job)| Arc::clone(job))
    }

    /// Returns the jobs of a session, oldest first.
    pub fn list(&self, session_key: &str) -> Vec<(String, Arc<CommandProcess>)> {
        let mut inner = self.lock();
        tidy(&mut inner);
        inner
            .jobs
            .iter()
            .filter(|(_, job)| job.session_key == session_key)
            .cloned()
            .collect()
    }

    /// Forgets a job of a session and returns it.
    pub fn remove(&self, session_key: &str, id: &str) -> Option<Arc<CommandProcess>> {
        let mut inner = self.lock();
        let at = inner
            .jobs
            .iter()
            .position(|(known, job)| known == id && job.session_key == session_key)?;
        Some(inner.jobs.remove(at).1)
    }

    /// Stops what runs for a session, which is deleted, and forgets what its commands said.
    pub fn forget_session(&self, session_key: &str) {
        let mut inner = self.lock();
        for (_, job) in &inner.jobs {
            if job.session_key == session_key {
                job.stop_soon();
            }
        }
        inner.jobs.retain(|(_, job)| job.session_key != session_key);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        let jobs = std::mem::take(&mut self.lock().jobs);
        for (_, job) in &jobs {
            job.stop_soon();
        }
        let until = Instant::now() + PATIENCE;
        for (_, job) in &jobs {
            job.stop_blocking(until.saturating_duration_since(Instant::now()));
        }
    }
}

/// Forgets jobs that ended long ago, and the oldest of too many.
fn tidy(inner: &mut Inner) {
    inner
        .jobs
        .retain(|(_, job)| job.since_end().is_none_or(|since| since < KEPT_FOR));
    let mut ended = inner
        .jobs
        .iter()
        .filter(|(_, job)| job.ending().is_some())
        .count();
    inner.jobs.retain(|(_, job)| {
        let goes = ended > KEPT && job.ending().is_some();
        ended -= usize::from(goes);
        !goes
    });
}
