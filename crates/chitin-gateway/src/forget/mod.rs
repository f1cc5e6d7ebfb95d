//! Sessions that are deleted and forgotten everywhere: the gateway sees to it that nothing of them runs, whoever makes agents removes what is on the disk.

mod report;

pub use report::{
    ForgetReport, ForgottenSession, KeptPlace, LeftTrace, RemovedJobs, RemovedRecordings,
    RemovedTurns, Searched,
};

use crate::gateway::Gateway;
use crate::host::HostError;
use crate::jobs::merged_into;
use chitin_store::{ForgetJobs, JobLog, StillOpen, StoreError};
use std::collections::HashSet;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

/// How long a turn may take to end that is stopped.
const STOPPING: Duration = Duration::from_secs(20);
/// How often is looked whether it has.
const PAUSE: Duration = Duration::from_millis(20);
/// How many sessions are deleted at once.
pub const MOST_SESSIONS: usize = 1_000;

/// Which sessions are forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetRequest {
    /// Their keys.
    pub keys: Vec<String>,
    /// Whether it is only said what would be.
    pub dry_run: bool,
}

/// What becomes of turns of sessions that are to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningTurns {
    /// Nothing is forgotten while one runs or waits.
    Refuse,
    /// They are stopped.
    Stop,
}

/// Why sessions were not forgotten.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForgetError {
    /// A turn runs, or a message waits.
    #[error("`{key}` has a turn that runs, or a message that waits")]
    Busy {
        /// The session.
        key: String,
    },
    /// There is no such session.
    #[error("there is no session `{key}`")]
    Unknown {
        /// The session.
        key: String,
    },
    /// Something went wrong.
    #[error(transparent)]
    Failed(#[from] HostError),
}

impl Gateway {
    /// Forgets sessions, and the sessions that they began. Blocks.
    pub fn forget(
        &self,
        request: &ForgetRequest,
        running: RunningTurns,
    ) -> Result<ForgetReport, ForgetError> {
        let host = &self.parts().host;
        let log = &self.parts().ledger;
        let plan = ForgetRequest {
            dry_run: true,
            ..request.clone()
        };
        let planned = host.forget(&plan, log)?;
        if request.dry_run {
            return Ok(planned);
        }
        let keys: HashSet<&str> = planned
            .sessions
            .iter()
            .map(|session| session.key.as_str())
            .collect();
        self.rest(&keys, running)?;
        let report = host.forget(request, log)?;
        // Whoever sends a message again under a key of theirs sends a new one.
        self.0.forget_names(&report.jobs.names);
        Ok(report)
    }

    /// Makes sure that nothing runs in sessions.
    fn rest(&self, keys: &HashSet<&str>, running: RunningTurns) -> Result<(), ForgetError> {
        let busy = || {
            let mut busy = self.busy().into_iter().map(|session| session.session_key);
            busy.find(|key| keys.contains(key.as_str()))
        };
        let begin = Instant::now();
        while let Some(key) = busy() {
            if running == RunningTurns::Refuse || begin.elapsed() > STOPPING {
                return Err(ForgetError::Busy { key });
            }
            self.stop(&key);
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// Tells from a job or its outcome whether it is of one of these sessions.
pub fn is_job_of<S: BuildHasher>(value: &serde_json::Value, keys: &HashSet<String, S>) -> bool {
    let key = value.get("sessionKey").and_then(serde_json::Value::as_str);
    key.is_some_and(|key| keys.contains(key))
}

/// Forgets jobs of sessions in a job log.
pub fn forget_jobs<S: BuildHasher + Clone + Send + 'static>(
    log: &JobLog,
    keys: &HashSet<String, S>,
    open: StillOpen,
) -> Result<RemovedJobs, StoreError> {
    let meant = keys.clone();
    let forgotten = log.forget(ForgetJobs {
        is_meant: Box::new(move |value, found| {
            is_job_of(value, &meant) || merged_into(value).is_some_and(|into| found.contains(into))
        }),
        words: keys.iter().cloned().collect(),
        open,
    })?;
    Ok(RemovedJobs {
        outcomes: forgotten.outcomes.len(),
        open: forgotten.open,
        damaged_logs: forgotten.damaged_logs,
        names: forgotten.outcomes.into_iter().collect(),
    })
}
