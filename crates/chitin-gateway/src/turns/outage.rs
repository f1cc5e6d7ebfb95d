//! Outages: a turn that failed through no fault of its own is tried again, and its session waits for it.
//!
//! What is the machine's fault (a full disk, no descriptors, a workspace that is gone) or the model's (it cannot be reached, it is
//! overloaded, its answer breaks off) leaves the job open. It keeps its place in its session, gives its slot back, and is tried
//! again after 1, 2, 4 … seconds up to five minutes, a little earlier at random; sooner when another turn shows that the outage is
//! over. After a day it fails for good.

use crate::events::EventKind;
use crate::gateway::{Gateway, Inner};
use crate::jobs::{Job, JobKind};
use crate::queue::busy::{Marks, Session};
use crate::subagents::tree::STOPPED;
use chitin_agent::turn::{Fault, TurnError};
use chitin_contract::ModelOutage;
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// How long a job that others show to be possible again is left alone between two attempts, in milliseconds.
const LEFT_ALONE_MS: i64 = 5_000;

/// What holds in outages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutagePolicy {
    /// How long after it was accepted a job is tried again, in milliseconds, unless its sender says otherwise.
    pub retry_ms: u64,
    /// How long to wait before the second attempt, in milliseconds; each further wait is twice as long.
    pub first_wait_ms: u64,
    /// How long such a wait is at most, in milliseconds.
    pub longest_wait_ms: u64,
    /// How long a turn may wait for the first word of its model before another one may run beside it, in milliseconds.
    pub silent_ms: u64,
}

impl Default for OutagePolicy {
    fn default() -> Self {
        Self {
            retry_ms: 24 * 60 * 60 * 1000,
            first_wait_ms: 1_000,
            longest_wait_ms: 5 * 60 * 1000,
            silent_ms: 20_000,
        }
    }
}

impl OutagePolicy {
    /// Returns how long to wait after so many attempts: up to a quarter less, by what the job is called.
    fn wait_ms(&self, tries: u32, job_id: &str) -> u64 {
        let doubled = 1_u64
            .checked_shl(tries.saturating_sub(1))
            .unwrap_or(u64::MAX);
        let wait = self.first_wait_ms.saturating_mul(doubled);
        let wait = wait.min(self.longest_wait_ms);
        let digest = Sha256::digest(format!("{job_id} {tries}"));
        wait - wait / 4 * u64::from(digest[0]) / 255
    }
}

/// Why a turn failed, and whose fault that is.
#[derive(Debug, Clone)]
pub(crate) struct TurnFailure {
    pub(crate) text: String,
    pub(crate) fault: Fault,
    /// Whether it did not fail at all: another process goes on with it.
    pub(crate) goes_on_elsewhere: bool,
}

impl TurnFailure {
    pub(crate) fn own(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            fault: Fault::Own,
            goes_on_elsewhere: false,
        }
    }

    pub(crate) fn machine(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            fault: Fault::Machine,
            goes_on_elsewhere: false,
        }
    }
}

impl From<&TurnError> for TurnFailure {
    fn from(error: &TurnError) -> Self {
        let hint = match error {
            TurnError::Source(error) => error.hint.clone(),
            TurnError::Store(error) => error.hint().map(str::to_owned),
            _ => None,
        };
        Self {
            text: match hint {
                Some(hint) => format!("{error} ({hint})"),
                None => error.to_string(),
            },
            fault: error.fault(),
            goes_on_elsewhere: matches!(error, TurnError::Elsewhere),
        }
    }
}

/// A job that waits for the end of an outage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DelayedJob {
    /// The job.
    pub job_id: String,
    /// Why its turn failed the last time.
    pub reason: String,
    /// Since when it is delayed, in milliseconds since 1970.
    pub since_ms: i64,
    /// When it is tried again at the latest, in milliseconds since 1970.
    pub next_ms: i64,
    /// How often it was tried.
    pub tries: u32,
}

/// A session's job that waits for the end of an outage.
#[derive(Debug)]
pub(crate) struct Delay {
    pub(crate) job: DelayedJob,
    wake: Arc<Notify>,
    tried_ms: i64,
    is_woken: bool,
}

impl Delay {
    /// Says how long the session still waits, and what ends that early; nothing when it is time.
    pub(crate) fn waits(&self, now_ms: i64) -> Option<(Duration, Arc<Notify>)> {
        let left = u64::try_from(self.job.next_ms - now_ms).ok()?;
        let waits = left > 0 && !self.is_woken;
        waits.then(|| (Duration::from_millis(left), Arc::clone(&self.wake)))
    }

    fn wake(&mut self) {
        self.is_woken = true;
        self.wake.notify_one();
    }
}

/// What is counted of outages.
#[derive(Debug, Default)]
pub(crate) struct OutageFigures {
    delayed: AtomicUsize,
    machine: AtomicU64,
    model: AtomicU64,
}

/// What a gateway has to do, and what went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayFigures {
    /// Jobs that are open.
    pub open: usize,
    /// Jobs that wait for the end of an outage.
    pub delayed: usize,
    /// Attempts that failed by the machine's fault.
    pub machine_failures: u64,
    /// Attempts that failed by the model's fault.
    pub model_failures: u64,
}

impl Gateway {
    /// Returns what there is to do, and what went wrong.
    pub fn figures(&self) -> GatewayFigures {
        let outages = &self.0.outages;
        GatewayFigures {
            open: self.0.open.load(Ordering::Relaxed),
            delayed: outages.delayed.load(Ordering::Relaxed),
            machine_failures: outages.machine.load(Ordering::Relaxed),
            model_failures: outages.model.load(Ordering::Relaxed),
        }
    }

    /// Says why a job is delayed, if it is.
    pub fn delay_of(&self, job_id: &str) -> Option<DelayedJob> {
        let busy = self.0.busy.lock();
        let mut delays = busy.values().filter_map(Session::delayed);
        delays.find(|delay| delay.job_id == job_id).cloned()
    }
}

impl Session {
    /// Returns the job that waits for the end of an outage.
    pub(crate) fn delayed(&self) -> Option<&DelayedJob> {
        let waits = self.active.is_none() && self.entering.is_none();
        self.delay
            .as_ref()
            .filter(|_| waits)
            .map(|delay| &delay.job)
    }

    /// Stops the job that waits for the end of an outage; tells whether there is one.
    pub(crate) fn stop_delayed(&mut self) -> bool {
        let Some(delay) = &mut self.delay else {
            return false;
        };
        let mut first = self.first.iter_mut();
        let waiting = first.find(|(job, _)| job.id == delay.job.job_id);
        if let Some((_, marks)) = waiting {
            marks.insert(STOPPED.to_owned());
            delay.wake();
            return true;
        }
        false
    }

    /// Lets a delayed job go on if it is this one.
    pub(crate) fn wake_job(&mut self, job_id: &str) {
        if let Some(delay) = self
            .delay
            .as_mut()
            .filter(|delay| delay.job.job_id == job_id)
        {
            delay.wake();
        }
    }
}

impl Inner {
    /// Tells whether a turn's failure is to be recorded, or tried again.
    pub(crate) fn tries_again(&self, job: &Job) -> bool {
        !self.parts.ledger.is_volatile() && self.retry_until(job) > self.parts.clock.now_ms()
    }

    /// Says until when a job is tried again.
    fn retry_until(&self, job: &Job) -> i64 {
        let longest = match job.kind {
            JobKind::Message | JobKind::SessionSend | JobKind::Subagent => {
                job.retry_ms.unwrap_or(self.parts.outage.retry_ms)
            }
            // News is tried again by rules of its own, and clocks by the next beat.
            JobKind::Announce | JobKind::Heartbeat | JobKind::Cron => 0,
        };
        let longest = i64::try_from(longest).unwrap_or(i64::MAX);
        job.accepted_at.saturating_add(longest)
    }

    /// Counts a failure, and tells whether its job stays open.
    pub(crate) fn is_outage(&self, job: &Job, failure: &TurnFailure) -> bool {
        let rules = &self.parts.contract.runtime.dispatch;
        let waits = match failure.fault {
            Fault::Own => return false,
            Fault::Machine => {
                self.outages.machine.fetch_add(1, Ordering::Relaxed);
                true
            }
            Fault::Model => {
                self.outages.model.fetch_add(1, Ordering::Relaxed);
                rules.model_outage == ModelOutage::Waited
            }
        };
        waits && self.tries_again(job)
    }

    /// Puts a job back to where it was in its session, to be tried again. Those whose words its turn heard stay right behind it.
    pub(crate) fn delay(
        &self,
        job: &Arc<Job>,
        steered: Vec<Job>,
        marks: Marks,
        failure: &TurnFailure,
    ) {
        let now = self.parts.clock.now_ms();
        let policy = &self.parts.outage;
        let mut busy = self.busy.lock();
        let session = busy.entry(job.session_key.clone()).or_default();
        let before = session
            .delay
            .take()
            .filter(|delay| delay.job.job_id == job.id);
        let is_first = before.is_none();
        let (since_ms, tries) = before.map_or((now, 1), |delay| {
            (delay.job.since_ms, delay.job.tries.saturating_add(1))
        });
        let wait = policy.wait_ms(tries, &job.id);
        let wait = i64::try_from(wait).unwrap_or(i64::MAX);
        let next_ms = now.saturating_add(wait).min(self.retry_until(job)).max(now);
        let delayed = DelayedJob {
            job_id: job.id.clone(),
            reason: failure.text.clone(),
            since_ms,
            next_ms,
            tries,
        };
        session.delay = Some(Delay {
            job: delayed.clone(),
            wake: Arc::default(),
            tried_ms: now,
            is_woken: false,
        });
        for job in steered.into_iter().rev() {
            session.first.push_front((job, Marks::new()));
        }
        session.first.push_front((Job::clone(job), marks));
        drop(busy);
        if !is_first {
            return;
        }
        if self.outages.delayed.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.parts.note)(&format!(
                "The turn of `{}` failed: {}. It is tried again, like all that fail for such reasons; `GET /api/status` lists them.",
                job.session_key, failure.text
            ));
        }
        self.tell(&job.session_key, &job.id, || EventKind::Delayed {
            job: delayed,
        });
    }

    /// A job is over, and so is its delay. If its turn went well, others are tried sooner.
    pub(crate) fn end_delay(&self, job: &Job, went_well: bool) {
        if self.outages.delayed.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut busy = self.busy.lock();
        let session = busy.get_mut(&job.session_key);
        let ours = session.filter(|session| {
            let delay = session.delay.as_ref();
            delay.is_some_and(|delay| delay.job.job_id == job.id)
        });
        if let Some(session) = ours {
            session.delay = None;
            if self.outages.delayed.fetch_sub(1, Ordering::Relaxed) == 1 {
                (self.parts.note)("No turn is delayed any more.");
            }
        }
        if went_well {
            let now = self.parts.clock.now_ms();
            let delays = busy
                .values_mut()
                .filter_map(|session| session.delay.as_mut());
            for delay in delays.filter(|delay| delay.tried_ms + LEFT_ALONE_MS <= now) {
                delay.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OutagePolicy;

    #[test]
    fn waits_double_up_to_five_minutes_and_are_a_quarter_shorter_at_most() {
        let policy = OutagePolicy::default();
        for tries in 1..100 {
            let whole = (1000 * 2_u64.pow((tries - 1).min(20))).min(300_000);
            let wait = policy.wait_ms(tries, "job");
            assert!(wait <= whole && wait >= whole * 3 / 4, "{tries}: {wait}");
        }
        assert_ne!(policy.wait_ms(9, "one"), policy.wait_ms(9, "another"));
    }
}
