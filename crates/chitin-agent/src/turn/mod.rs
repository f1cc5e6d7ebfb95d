//! One turn: context → model → tools → transcript, reported as events.
//!
//! Reading order: [`Agent::turn`] and the two functions below it are the whole flow. `running.rs` begins a turn and `finish.rs` ends
//! it; `ask.rs` asks a model, `calls.rs` runs tools, `records.rs` and `session.rs` store records, `conversation.rs` decides which of them
//! are sent, `flush.rs` lets the agent save notes before `compact.rs` replaces them by a summary.

mod ask;
mod calls;
mod compact;
mod conversation;
mod dry;
mod engine;
mod event_sink;
mod finish;
mod flush;
mod flush_mark;
mod flush_tools;
mod guarding;
mod input;
mod journaling;
mod outcome;
mod parts;
mod preflight;
mod reading;
mod records;
mod resume;
mod running;
mod session;
mod steering;
mod untrusted;
mod writing;

pub use conversation::{HistoryInputs, HistoryOptions, NextRequest, SentHistory, next_request};
pub use dry::DryRun;
pub use event_sink::Events;
pub use guarding::Judged;
pub use input::{Durability, OnOutage, TurnApprover, TurnInput};
pub use outcome::{Fault, TurnError, TurnReport};
pub use parts::{ModelCandidate, NoApprover, Parts, PriceOf, ResetAsk, TurnEnvironment};
pub use reading::{read_history, read_marker, read_origins};
pub(crate) use running::Running;
pub use steering::{Steer, Steering};

use crate::lane::Lanes;
use ask::ModelReply;
use chitin_protocol::message::{Message, StopReason};
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::EntryBody;
use compact::Reason;
use event_sink::EventSink;
use std::sync::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Runs turns.
pub struct Agent {
    pub(crate) parts: Parts,
    /// The tool definitions: the same bytes on every turn.
    pub(crate) specs: Vec<ToolSpec>,
    lanes: Lanes,
    /// The last request, to see how much of it the next one of its session repeats.
    pub(crate) last_body: Mutex<Option<(String, bytes::Bytes)>>,
}

impl Agent {
    /// Makes an agent from its parts.
    pub fn new(parts: Parts) -> Self {
        Self {
            specs: parts.tools.specs().cloned().collect(),
            parts,
            lanes: Lanes::default(),
            last_body: Mutex::new(None),
        }
    }

    pub(crate) async fn lane(&self, session_key: &str) -> OwnedMutexGuard<()> {
        self.lanes.enter(session_key).await
    }

    /// Returns the tool definitions.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns the parts.
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Runs a turn and reports its events.
    ///
    /// Stop it by the token: the partial reply is then kept and marked. Do not drop the future before it is done: records that
    /// were being written would still be written, without being reported.
    pub async fn turn(
        &self,
        input: TurnInput,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        self.turn_judged(input, None, events, cancel).await
    }

    /// Does what [`Self::turn`] does, for a message that [`Self::judge`] has judged.
    pub async fn turn_judged(
        &self,
        input: TurnInput,
        judged: Option<Judged>,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let (agent, session) = (&self.parts.agent_id, &input.session_key);
        let span = tracing::info_span!("turn", agent, session);
        let turn = async {
            let lane = self.lane(&input.session_key).await;
            let report = self
                .turn_in_lane(
                    &input,
                    judged,
                    EventSink::new(events, self.parts.tools.redactor()),
                    cancel,
                )
                .await;
            drop(lane);
            self.lanes.leave(&input.session_key);
            report
        };
        turn.instrument(span).await
    }

    async fn turn_in_lane(
        &self,
        input: &TurnInput,
        judged: Option<Judged>,
        sink: EventSink,
        cancel: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let judged = judged.unwrap_or_else(|| Judged(self.admit(input)));
        // Held until the turn is over: limits count it until then.
        let _admission = match judged.0 {
            Ok(admission) => admission,
            Err(refusal) => return self.refuse(input, *refusal, sink, &cancel).await,
        };
        let mut running = Running::begin(self, input, sink, cancel).await?;
        let stop = running.cancel.clone();
        let (outcome, late) = {
            let conversing = running.converse(input);
            tokio::pin!(conversing);
            // The token stops the turn in order; dropping the future would lose the session.
            tokio::select! {
                outcome = &mut conversing => (outcome, false),
                () = tokio::time::sleep(self.parts.limits.time) => {
                    stop.cancel();
                    (conversing.await, true)
                }
            }
        };
        let outcome = if late {
            let seconds = self.parts.limits.time.as_secs();
            Err(TurnError::Limit(format!("the turn may take {seconds} s")))
        } else {
            outcome
        };
        running.finish(outcome).await
    }
}

impl Running<'_> {
    /// Asks and runs tools until the model has nothing more to do.
    async fn converse(&mut self, input: &TurnInput) -> Result<(), TurnError> {
        let mut pending = match self.records.resumed.take() {
            Some(earlier) => match self.resume(earlier).await {
                Some(pending) => pending,
                None => return Ok(()),
            },
            None => self.opening(input),
        };
        let mut opens = true;
        loop {
            let leaves = input.leaves.as_ref();
            // Not before it came further here, or a turn would only be handed from one process to the next.
            if !opens && leaves.is_some_and(CancellationToken::is_cancelled) {
                self.store(pending).await?;
                return Err(TurnError::Elsewhere);
            }
            self.flush_memory(input).await;
            // A turn that was stopped during the flush does not wait for compaction either.
            let is_too_long = || {
                let conversation = &self.conversation;
                conversation.is_too_long(&self.request.system, self.candidate())
            };
            if !self.cancel.is_cancelled() && is_too_long() {
                self.store(std::mem::take(&mut pending)).await?;
                self.compact(Reason::Full, None).await?;
            }
            if std::mem::take(&mut opens) {
                self.recover_before(&mut pending).await?;
            }
            if let Some(limit) = self
                .progress
                .spent
                .over(&self.agent.parts.limits, self.progress.cost_before)
            {
                self.store(pending).await?;
                return Err(TurnError::Limit(limit));
            }
            let answer = match self.ask(std::mem::take(&mut pending)).await? {
                ModelReply::TooLong(error) => {
                    if !self.compact(Reason::Refused, None).await? {
                        return Err(error.into());
                    }
                    continue;
                }
                ModelReply::Message(message) => *message,
            };
            let (answer, refused) = self.judged(answer).await;
            let wants_tools = answer.stop_reason == Some(StopReason::ToolUse)
                && answer.tool_calls().next().is_some();
            let is_refused = refused.is_some();
            let stored = EntryBody::Message(Message::Assistant(answer.clone()));
            self.store(std::iter::once(stored).chain(refused).collect())
                .await?;
            self.report_reply(&answer).await;
            self.progress.last_reply = Some(answer.clone());
            if is_refused {
                return Ok(());
            }
            if wants_tools {
                self.run_tools(&answer).await?;
            }
            if self.cancel.is_cancelled() {
                return Ok(());
            }
            pending = loop {
                let came = match &input.steering {
                    Some(steering) if wants_tools => steering.take(),
                    Some(steering) => steering.take_or_close(),
                    None => Vec::new(),
                };
                if !wants_tools && came.is_empty() {
                    return Ok(());
                }
                let bodies = self.steered(came, input).await;
                let is_message = |body: &EntryBody| matches!(body, EntryBody::Message(_));
                if wants_tools || bodies.iter().any(is_message) {
                    break bodies;
                }
                // All new messages were refused, so there is nothing to answer.
                self.store(bodies).await?;
            };
        }
    }
}
