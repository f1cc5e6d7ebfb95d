//! What waits in a session, and what goes next.

use super::busy::{Marks, Session, StopCause};
use super::{Batch, QueueMode, QueueSettings, QueuedMessage};
use crate::events::{EventKind, JobPlacement};
use crate::gateway::Inner;
use crate::intake::IntakeRefusal;
use crate::jobs::{Job, JobKind, JobOutcome, JobStatus};
use crate::turns::input::origin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;

/// What a session does next.
enum Next {
    /// A turn.
    Run(Box<Job>, Marks),
    /// Several messages become one turn.
    Merge(Batch<Job>),
    /// It waits a little for more messages.
    Wait(Duration),
    /// It waits for the end of an outage.
    Delayed(Duration, Arc<Notify>),
    /// Nothing.
    Rest,
}

impl Inner {
    /// Puts somebody's message into a session.
    pub(crate) fn enqueue(self: &Arc<Self>, job: Job, settings: QueueSettings) -> JobPlacement {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(&job.session_key) else {
            let key = job.session_key.clone();
            let mut session = Session::new(settings);
            session.first.push_back((job, Marks::new()));
            busy.insert(key.clone(), session);
            drop(busy);
            self.drive(key);
            return JobPlacement::Runs;
        };
        session.settings = Some(settings);
        let job = match settings.mode {
            QueueMode::Steer | QueueMode::SteerBacklog => match session.steer(job) {
                Ok(()) => return JobPlacement::Steers,
                Err(job) => *job,
            },
            QueueMode::Interrupt => {
                // A guest does not stop what the owner asked for.
                if session.yields_to(&job) {
                    session.stop(StopCause::Interrupted);
                }
                job
            }
            QueueMode::Followup | QueueMode::Collect => job,
        };
        let now = u64::try_from(self.parts.clock.now_ms()).unwrap_or_default();
        let gone = session.pending.push(job, &settings, now);
        drop(busy);
        for job in gone {
            self.let_go(&job, "newer messages replaced it");
        }
        JobPlacement::Waits
    }

    /// Refuses a message that would have to wait in a session where too many wait already.
    pub(crate) fn must_have_room(
        &self,
        session_key: &str,
        settings: &QueueSettings,
    ) -> Result<(), IntakeRefusal> {
        let busy = self.busy.lock();
        let Some(session) = busy.get(session_key) else {
            return Ok(());
        };
        let steers = match settings.mode {
            QueueMode::Steer | QueueMode::SteerBacklog => session.active.is_some(),
            QueueMode::Interrupt | QueueMode::Followup | QueueMode::Collect => false,
        };
        if steers || session.pending.has_room(settings) {
            return Ok(());
        }
        Err(IntakeRefusal::QueueFull {
            waiting: session.pending.len(),
        })
    }

    /// Lets a message wait instead of interrupting if the rules of the workspace would refuse it: what is refused must not
    /// stop anything. It is refused in a turn of its own.
    pub(crate) async fn without_refused_interrupt(
        &self,
        job: &Job,
        settings: QueueSettings,
    ) -> QueueSettings {
        let is_running = || {
            let busy = self.busy.lock();
            let session = busy.get(&job.session_key);
            session.is_some_and(|session| session.active.is_some())
        };
        if settings.mode != QueueMode::Interrupt || !is_running() {
            return settings;
        }
        // Without an agent the message fails, which must not stop anything either.
        let is_refused = self.agent_for(job).await.map_or(true, |agent| {
            agent.foresee_refusal_of_interrupt(job.words(), &origin(job))
        });
        QueueSettings {
            mode: if is_refused {
                QueueMode::Followup
            } else {
                settings.mode
            },
            ..settings
        }
    }

    /// Puts a job before all that waits. One that brings news goes into the turn that runs, if there is one.
    pub(crate) fn put_first(self: &Arc<Self>, job: Job, marks: Marks) -> JobPlacement {
        let mut busy = self.busy.lock();
        let key = job.session_key.clone();
        let Some(session) = busy.get_mut(&key) else {
            let mut session = Session::default();
            session.first.push_back((job, marks));
            busy.insert(key.clone(), session);
            drop(busy);
            self.drive(key);
            return JobPlacement::Runs;
        };
        let job = match job.kind {
            JobKind::Announce | JobKind::SessionSend if marks.is_empty() => {
                match session.steer(job) {
                    Ok(()) => return JobPlacement::Steers,
                    Err(job) => *job,
                }
            }
            JobKind::Announce
            | JobKind::SessionSend
            | JobKind::Message
            | JobKind::Subagent
            | JobKind::Heartbeat
            | JobKind::Cron => job,
        };
        session.first.push_back((job, marks));
        JobPlacement::Waits
    }

    /// Puts a job that was begun before back into its session. Its words may have been heard already, so that they do not go
    /// into a turn that runs: the agent finds out when it is asked under the same name.
    pub(crate) fn put_back(self: &Arc<Self>, job: Job, marks: Marks) {
        let key = job.session_key.clone();
        let mut busy = self.busy.lock();
        let rests = !busy.contains_key(&key);
        let session = busy.entry(key.clone()).or_default();
        session.first.push_back((job, marks));
        drop(busy);
        if rests {
            self.drive(key);
        }
    }

    /// Lets a job go that will not be run.
    fn let_go(&self, job: &Job, reason: &str) {
        let outcome = JobOutcome::without_turn(JobStatus::Dropped, reason);
        self.parts.ledger.note(vec![self.ending(job, &outcome)]);
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.tell(&job.session_key, &job.id, || EventKind::Dropped {
            reason: reason.to_owned(),
        });
    }

    /// Works a session off until it has nothing to do.
    pub(crate) fn drive(self: &Arc<Self>, key: String) {
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            inner.work_off(&key).await;
            inner.free(&key).await;
        });
    }

    async fn work_off(self: &Arc<Self>, key: &str) {
        // What is left when another process takes over, that one finds in the job log.
        while self.turnstile.pass().await.is_some() {
            match self.next(key) {
                Next::Run(job, marks) => Box::pin(self.run_caught(*job, marks)).await,
                Next::Merge(batch) => Box::pin(self.run_merged(key, batch)).await,
                Next::Wait(time) => tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = self.turnstile.left() => {}
                },
                Next::Delayed(time, wake) => tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = wake.notified() => {}
                    // The job log keeps it.
                    () = self.ending.cancelled() => return,
                },
                Next::Rest => return,
            }
        }
    }

    /// Says what a session does next; one that has nothing to do is forgotten in the same step.
    fn next(&self, key: &str) -> Next {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(key) else {
            return Next::Rest;
        };
        let now = self.parts.clock.now_ms();
        if let Some((time, wake)) = session.delay.as_ref().and_then(|delay| delay.waits(now)) {
            return Next::Delayed(time, wake);
        }
        if let Some((job, marks)) = session.first.pop_front() {
            return Next::Run(Box::new(job), marks);
        }
        let Some(settings) = session.settings.filter(|_| !session.pending.is_empty()) else {
            busy.remove(key);
            return Next::Rest;
        };
        let now = u64::try_from(self.parts.clock.now_ms()).unwrap_or_default();
        let wait = session.pending.wait_ms(&settings, now).unwrap_or_default();
        if wait > 0 && settings.mode != QueueMode::Interrupt {
            return Next::Wait(Duration::from_millis(wait));
        }
        let batch = match settings.mode {
            QueueMode::Collect | QueueMode::SteerBacklog => {
                // What goes back to different places stays apart.
                session.pending.take_alike(|one, other| {
                    one.deliver == other.deliver && one.sender == other.sender
                })
            }
            QueueMode::Steer | QueueMode::Followup | QueueMode::Interrupt => {
                session.pending.take_one()
            }
        };
        batch.map_or(Next::Rest, Next::Merge)
    }
}
