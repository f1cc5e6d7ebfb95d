//! What waits in a session, and what goes next.

use super::panics;
use super::running::origin;
use super::sessions::{Active, Marks, Session, StopCause};
use super::tree::STOPPED;
use super::{Inner, Place, Refusal, What, closing, opening};
use crate::job::{Job, JobKind, Sender};
use crate::queue::{Batch, Pushed, QueueMode, QueueSettings, Said};
use chitin_agent::turn::Steer;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What a session does next.
enum Next {
    /// A turn.
    Run(Box<Job>, Marks),
    /// Several messages become one turn.
    Merge(Batch<Job>),
    /// It waits a little for more messages.
    Wait(Duration),
    /// Nothing.
    Rest,
}

impl Inner {
    /// Puts somebody's message into a session.
    pub(super) fn enqueue(
        self: &Arc<Self>,
        job: Job,
        settings: QueueSettings,
    ) -> Result<Place, Refusal> {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(&job.session_key) else {
            let key = job.session_key.clone();
            let mut session = Session::new(settings);
            session.first.push_back((job, Marks::new()));
            busy.insert(key.clone(), session);
            drop(busy);
            self.drive(key);
            return Ok(Place::Runs);
        };
        session.settings = Some(settings);
        let job = match settings.mode {
            QueueMode::Steer | QueueMode::SteerBacklog => match session.steer(job) {
                Ok(()) => return Ok(Place::Steers),
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
        let waiting = session.pending.len();
        match session.pending.push(job, &settings, now) {
            Pushed::Waits => Ok(Place::Waits),
            Pushed::Replaced(gone) => {
                drop(busy);
                for job in gone {
                    self.let_go(&job, "newer messages took its place");
                }
                Ok(Place::Waits)
            }
            Pushed::Refused(job) => {
                drop(busy);
                self.let_go(&job, "too many messages wait already");
                Err(Refusal::QueueFull { waiting })
            }
        }
    }

    /// Puts a job before all that waits. One that brings news goes into the turn that runs, if there is one.
    pub(super) fn put_first(self: &Arc<Self>, job: Job, marks: Marks) -> Place {
        let mut busy = self.busy.lock();
        let key = job.session_key.clone();
        let Some(session) = busy.get_mut(&key) else {
            let mut session = Session::default();
            session.first.push_back((job, marks));
            busy.insert(key.clone(), session);
            drop(busy);
            self.drive(key);
            return Place::Runs;
        };
        let job = match job.kind {
            JobKind::Announce | JobKind::SessionSend if marks.is_empty() => {
                match session.steer(job) {
                    Ok(()) => return Place::Steers,
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
        Place::Waits
    }

    /// Puts a job that was begun before back into its session. Its words may have been heard already, so that they do not go
    /// into a turn that runs: the agent finds out when it is asked under the same name.
    pub(super) fn put_back(self: &Arc<Self>, job: Job, marks: Marks) {
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
        self.parts.ledger.note(vec![closing(&job.id)]);
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.tell(&job.session_key, &job.id, || What::Dropped {
            reason: reason.to_owned(),
        });
    }

    /// Works a session off until it has nothing to do.
    fn drive(self: &Arc<Self>, key: String) {
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            loop {
                match inner.next(&key) {
                    Next::Run(job, marks) => Box::pin(inner.run_caught(*job, marks)).await,
                    Next::Merge(batch) => Box::pin(inner.run_merged(&key, batch)).await,
                    Next::Wait(time) => tokio::time::sleep(time).await,
                    Next::Rest => return,
                }
            }
        });
    }

    /// Says what a session does next; one that has nothing to do is forgotten in the same step.
    fn next(&self, key: &str) -> Next {
        let mut busy = self.busy.lock();
        let Some(session) = busy.get_mut(key) else {
            return Next::Rest;
        };
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

    /// Runs several messages as one turn. Should putting them together panic, they stay in the job log.
    async fn run_merged(self: &Arc<Self>, key: &str, batch: Batch<Job>) {
        match panics::caught(self.merged(batch)).await {
            Ok(Some(job)) => self.run_caught(job, Marks::new()).await,
            Ok(None) => {}
            Err(panic) => (self.parts.note)(&format!(
                "Internal error: messages in `{key}` could not be put together ({panic}). They are kept and run after the next start."
            )),
        }
    }

    /// Takes out of a batch what the rules of the workspace would refuse. Each of these gets a turn of its own afterwards, so
    /// that its sender learns its fate and the others are not refused with it.
    async fn set_apart(&self, batch: &mut Batch<Job>) {
        let [first, _, ..] = batch.items.as_slice() else {
            return;
        };
        // Whatever is wrong with the agent is said when the turn begins.
        let Ok(agent) = self.agent_for(first).await else {
            return;
        };
        let messages = batch.items.iter().map(|job| (job.words(), origin(job)));
        let refused = agent.foresee_refusals(&messages.collect::<Vec<_>>());
        if !refused.contains(&true) {
            return;
        }
        let key = first.session_key.clone();
        let mut busy = self.busy.lock();
        let session = busy.entry(key).or_default();
        let items = std::mem::take(&mut batch.items).into_iter().zip(refused);
        for (job, is_refused) in items {
            if is_refused {
                session.first.push_back((job, Marks::new()));
            } else {
                batch.items.push(job);
            }
        }
    }

    /// Makes one job of several. They leave the ledger as the one enters it.
    async fn merged(&self, mut batch: Batch<Job>) -> Option<Job> {
        self.set_apart(&mut batch).await;
        let words = batch.prompt();
        let written: Vec<String> = batch.items.iter().flat_map(Job::written).collect();
        let mut jobs = batch.items.into_iter();
        let first = jobs.next()?;
        let others: Vec<Job> = jobs.collect();
        if others.is_empty() {
            return Some(Job {
                words,
                written,
                ..first
            });
        }
        let last = others.last().unwrap_or(&first);
        let job = Job {
            id: self.parts.clock.unique(),
            message_id: last.message_id.clone(),
            images: std::iter::once(&first)
                .chain(&others)
                .flat_map(|job| job.images.iter().cloned())
                .collect(),
            words,
            written,
            ..first.clone()
        };
        let mut changes = vec![opening(&job)];
        let gone = || std::iter::once(&first).chain(&others);
        changes.extend(gone().map(|job| closing(&job.id)));
        if let Err(error) = self.write(changes).await {
            (self.parts.note)(&format!("messages could not be put together: {error}"));
            // Nothing is lost: they are still in the ledger, one by one.
            let mut busy = self.busy.lock();
            let session = busy.entry(first.session_key.clone()).or_default();
            for job in gone() {
                session.first.push_back((job.clone(), Marks::new()));
            }
            return None;
        }
        let count = others.len();
        self.open.fetch_sub(count, Ordering::Relaxed);
        for one in gone() {
            self.tell(&one.session_key, &one.id, || What::Merged {
                into: job.id.clone(),
            });
            self.hub.follow(&one.id, &job.id);
        }
        Some(job)
    }
}

impl Session {
    fn new(settings: QueueSettings) -> Self {
        Self {
            settings: Some(settings),
            ..Self::default()
        }
    }

    /// Puts a job's words into the turn that runs, or gives the job back.
    fn steer(&mut self, job: Job) -> Result<(), Box<Job>> {
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
    fn yields_to(&self, job: &Job) -> bool {
        let sender = job.sender.as_ref();
        let active = self
            .active
            .as_ref()
            .map(|active| active.job.sender.as_ref());
        sender.is_none_or(|sender| sender.is_owner)
            || active.is_none_or(|active| Sender::may_the_same(active, sender))
    }

    /// Stops the turn that runs, or waits for room to run; tells whether there is one.
    pub(super) fn stop(&mut self, cause: StopCause) -> bool {
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
            (None, _) => false,
        }
    }

    /// Stops the turn of a job, wherever it is.
    pub(super) fn stop_job(&mut self, job_id: &str) {
        for (job, marks) in &mut self.first {
            if job.id == job_id {
                marks.insert(STOPPED.to_owned());
            }
        }
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
