//! One turn of a session: an agent for it, room in a lane, and its words on their way while it runs.

use super::outage::TurnFailure;
use super::panics::{self, RunStage};
use crate::delivery::deliver::Delivery;
use crate::events::EventKind;
use crate::gateway::Inner;
use crate::handover::EndedTurn;
use crate::jobs::{Job, JobKind, JobOutcome, JobStatus, RefusedOutcome};
use crate::queue::busy::{Active, Marks, StopCause};
use crate::queue::turn_slots::TurnSlot;
use crate::subagents::tree::{STOPPED, STOPPED_QUIETLY};
use chitin_agent::turn::{Agent, Judged, Steering, TurnInput, TurnReport};
use chitin_protocol::message::StopReason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

/// The tool by which a session reads what was said in a thread.
const MESSAGE_TOOL: &str = "message";

/// Why a turn ended that never began.
const NOT_STARTED: &str = "it was stopped before it started";

/// How many events of a turn wait to be told. A turn that is faster waits.
const EVENTS: usize = 64;

impl Inner {
    /// Runs a job to its end. `stage` says how far it came, for whoever catches a panic.
    pub(crate) async fn run(self: &Arc<Self>, job: Arc<Job>, marks: Marks, stage: &RunStage) {
        let entered = self.enter(&job, &marks).await;
        let Some(slot) = entered else {
            let Some(_here) = self.turnstile.pass().await else {
                return;
            };
            let outcome = self.outcome(
                Err(NOT_STARTED.to_owned()),
                Some(StopCause::Wanted),
                self.parts.clock.now_ms(),
            );
            stage.settles();
            self.end_delay(&job, false);
            self.finish(&job, Vec::new(), &outcome, marks).await;
            self.tell(&job.session_key, &job.id, || EventKind::Finished {
                outcome,
            });
            return;
        };
        // Otherwise the next process begins it.
        let Some(here) = self.turnstile.pass().await else {
            return;
        };
        let began = self.parts.clock.now_ms();
        let (steering, cancel) = self.begin(&job, began);
        drop(here);
        let used_before = self.used_before(&job);
        let ready = self.note_begin(&job, began).await;
        let mut delivery = Delivery::new(Arc::clone(self), Arc::clone(&job), marks);
        let reacted = delivery.reacted();
        let asks = Arc::new(Notify::new());
        let slot = Mutex::new(slot);
        let lend = || {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            slot.lend();
        };
        let turn = async {
            ready.map_err(TurnFailure::machine)?;
            let agent = self.agent_for(&job).await?;
            let tools = agent.specs().iter().map(|tool| tool.name.as_str());
            let reader = tools.into_iter().find(|name| *name == MESSAGE_TOOL);
            let input = self.input(&job, steering.clone(), reader, &asks).await;
            let judged = self.judged(&agent, &input, &job, &slot, &cancel).await?;
            Box::pin(self.turn(&agent, (input, judged), &job, &cancel, &mut delivery)).await
        };
        let turn = async {
            let silence = tokio::time::sleep(Duration::from_millis(self.parts.outage.silent_ms));
            tokio::pin!(turn, silence);
            // Neither a model that hangs nor a person who thinks keeps others from their turns.
            tokio::select! {
                outcome = &mut turn => return outcome,
                () = asks.notified() => lend(),
                () = &mut silence => if !reacted.load(Ordering::Relaxed) {
                    lend();
                }
            }
            tokio::select! {
                outcome = &mut turn => return outcome,
                () = asks.notified() => lend(),
            }
            turn.await
        };
        // A turn that panics is a turn that failed: whoever waits hears of it, and the session goes on.
        let outcome = match panics::caught(turn).await {
            Ok(outcome) => outcome,
            Err(panic) => {
                self.note_panic(&job, &panic);
                Err(TurnFailure::own(panics::as_error(&panic)))
            }
        };
        drop(slot);
        let (cause, steered) = self.end(&job, &steering);
        if matches!(&outcome, Err(failure) if failure.goes_on_elsewhere) {
            // The transcript has what the turn did, and the next process goes on from there.
            return;
        }
        if let (None, Err(failure)) = (cause, &outcome)
            && !delivery.is_cut_short()
            && self.is_outage(&job, failure)
        {
            if self.turnstile.has_left() {
                return;
            }
            if let Err(panic) = panics::caught(delivery.delayed(failure)).await {
                self.note_panic(&job, &panic);
            }
            self.delay(&job, steered, delivery.into_marks(), failure);
            return;
        }
        self.end_delay(&job, outcome.is_ok());
        let outcome = self.outcome(outcome.map_err(|failure| failure.text), cause, began);
        let words = match panics::caught(delivery.end(&outcome)).await {
            Ok(words) => words,
            Err(panic) => {
                self.note_panic(&job, &panic);
                None
            }
        };
        // Those whose words it heard are over as it is, and those that were refused as they were.
        let steered = steered.into_iter().map(|job| {
            let outcome = delivery.outcome_of(&job.id, &outcome);
            (job, outcome)
        });
        let ended = EndedTurn {
            steered: steered.collect(),
            marks: delivery.into_marks().into_iter().collect(),
            job: Job::clone(&job),
            outcome,
            words,
            used_before,
        };
        match self.turnstile.pass().await {
            Some(_here) => {
                stage.settles();
                self.close_turn(ended).await;
            }
            None => self.close_elsewhere(ended).await,
        }
    }

    /// Writes down that a turn is over and delivered, and tells those who wait.
    pub(crate) async fn close_turn(self: &Arc<Self>, ended: EndedTurn) {
        let EndedTurn {
            job,
            steered,
            outcome,
            words,
            used_before,
            marks,
        } = ended;
        match job.kind {
            JobKind::Heartbeat => self.beat_done(&job, &outcome, words.as_deref(), used_before),
            JobKind::Cron => self.run_done(&job, &outcome).await,
            _ => self.note_place(&job).await,
        }
        let ends = steered.iter();
        let ends: Vec<_> = ends
            .map(|(job, end)| (job.id.clone(), end.clone()))
            .collect();
        self.finish(&job, steered, &outcome, marks.into_iter().collect())
            .await;
        for (id, outcome) in ends.into_iter().chain([(job.id.clone(), outcome)]) {
            self.tell(&job.session_key, &id, || EventKind::Finished { outcome });
        }
        self.hub.forget(&job.id);
    }

    /// Waits for room; nothing comes back when the job is stopped before there is some.
    async fn enter(&self, job: &Job, marks: &Marks) -> Option<TurnSlot> {
        if marks.contains(STOPPED) || marks.contains(STOPPED_QUIETLY) {
            return None;
        }
        let stop = CancellationToken::new();
        {
            let mut busy = self.busy.lock();
            let session = busy.entry(job.session_key.clone()).or_default();
            session.entering = Some((job.id.clone(), stop.clone()));
        }
        let room = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            () = self.turnstile.left() => None,
            room = self.turn_slots.enter(job) => room,
        };
        if room.is_none()
            && let Some(session) = self.busy.lock().get_mut(&job.session_key)
        {
            session.entering = None;
        }
        room
    }

    /// Marks the session as one whose turn runs.
    fn begin(&self, job: &Arc<Job>, began: i64) -> (Steering, CancellationToken) {
        let (steering, cancel) = (Steering::default(), CancellationToken::new());
        let mut busy = self.busy.lock();
        let session = busy.entry(job.session_key.clone()).or_default();
        let stopped = session.entering.take();
        if stopped.is_some_and(|(_, stop)| stop.is_cancelled()) {
            cancel.cancel();
        }
        session.is_at_work = true;
        session.active = Some(Active {
            job: Arc::clone(job),
            steering: steering.clone(),
            steered: Vec::new(),
            cancel: cancel.clone(),
            cause: None,
            since_ms: began,
            said: std::collections::HashSet::new(),
        });
        (steering, cancel)
    }

    /// Marks the turn as over. Words that it did not hear go first next time; the jobs whose words it heard come back.
    pub(crate) fn end(&self, job: &Job, steering: &Steering) -> (Option<StopCause>, Vec<Job>) {
        let mut busy = self.busy.lock();
        let unheard = steering.close();
        let Some(session) = busy.get_mut(&job.session_key) else {
            return (None, Vec::new());
        };
        let Some(active) = session.active.take() else {
            return (None, Vec::new());
        };
        let (left, heard): (Vec<Job>, Vec<Job>) = active.steered.into_iter().partition(|job| {
            let key = Some(job.id.as_str());
            unheard.iter().any(|steer| steer.key.as_deref() == key)
        });
        for job in left.into_iter().rev() {
            session.first.push_front((job, Marks::new()));
        }
        (active.cause, heard)
    }

    /// Lets the rules of the workspace judge the message. While it has to wait for others of its sender, its room is another turn's.
    async fn judged(
        &self,
        agent: &Agent,
        input: &TurnInput,
        job: &Job,
        slot: &Mutex<TurnSlot>,
        cancel: &CancellationToken,
    ) -> Result<Judged, TurnFailure> {
        let slot = || slot.lock().unwrap_or_else(PoisonError::into_inner);
        let has_waited = AtomicBool::new(false);
        let waits = || {
            has_waited.store(true, Ordering::Relaxed);
            slot().leave();
        };
        let judged = agent.judge(input, cancel, waits).await;
        if has_waited.into_inner() {
            let room = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                room = self.turn_slots.enter(job) => room,
            };
            let room = room.ok_or_else(|| TurnFailure::own(NOT_STARTED.to_owned()))?;
            slot().take_over(room);
        }
        Ok(judged)
    }

    /// Runs the turn, stops it when its time is over, and lets its words go out while it runs.
    async fn turn(
        &self,
        agent: &Agent,
        (input, judged): (TurnInput, Judged),
        job: &Job,
        cancel: &CancellationToken,
        delivery: &mut Delivery,
    ) -> Result<TurnReport, TurnFailure> {
        let (sender, receiver) = mpsc::channel(EVENTS);
        let turn = agent.turn_judged(input, Some(judged), sender, cancel.clone());
        let reacted = delivery.reacted();
        let timed = async {
            let Some(longest) = job.timeout_ms.filter(|longest| *longest > 0) else {
                return turn.await;
            };
            tokio::pin!(turn);
            tokio::select! {
                report = &mut turn => report,
                () = tokio::time::sleep(Duration::from_millis(longest)) => {
                    // An announce has arrived once the parent reacts to it; what the parent then does may take its time.
                    if job.about.is_some() && reacted.load(Ordering::Relaxed) {
                        return turn.await;
                    }
                    if let Some(session) = self.busy.lock().get_mut(&job.session_key) {
                        session.stop(StopCause::TimedOut);
                    }
                    turn.await
                }
            }
        };
        let (report, ()) = tokio::join!(timed, delivery.listen(receiver));
        report.map_err(|error| TurnFailure::from(&error))
    }

    pub(crate) fn outcome(
        &self,
        report: Result<TurnReport, String>,
        cause: Option<StopCause>,
        began: i64,
    ) -> JobOutcome {
        let runtime_ms = u64::try_from(self.parts.clock.now_ms() - began).unwrap_or_default();
        let stopped = match cause {
            Some(StopCause::TimedOut) => Some(JobStatus::TimedOut),
            Some(StopCause::Wanted | StopCause::Interrupted) => Some(JobStatus::Stopped),
            None => None,
        };
        match report {
            Ok(report) => JobOutcome {
                status: stopped.unwrap_or(match report.stop_reason {
                    StopReason::Aborted => JobStatus::Stopped,
                    StopReason::Error => JobStatus::Failed,
                    StopReason::Stop
                    | StopReason::Length
                    | StopReason::ToolUse
                    | StopReason::Other(_) => JobStatus::Ok,
                }),
                text: report.text,
                error: report.error,
                input_tokens: report.usage.input
                    + report.usage.cache_read
                    + report.usage.cache_write,
                output_tokens: report.usage.output,
                runtime_ms,
                origins: report.origins,
                refused: report
                    .refused
                    .map(|(part, by)| Box::new(RefusedOutcome { part, by })),
            },
            Err(error) => JobOutcome {
                status: stopped.unwrap_or(JobStatus::Failed),
                text: String::new(),
                error: Some(error),
                input_tokens: 0,
                output_tokens: 0,
                runtime_ms,
                origins: Vec::new(),
                refused: None,
            },
        }
    }
}
