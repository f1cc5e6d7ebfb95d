//! One turn: context → model → tools → transcript, told as events while it happens.
//!
//! Reading order: [`Agent::turn`] here is the whole flow; `ask.rs` asks a model, `calls.rs` runs tools, `session.rs` keeps
//! records, `conversation.rs` decides what of them is sent again, `flush.rs` lets the agent write down what it will forget
//! before `compact.rs` puts them into a summary.

mod ask;
mod calls;
mod compact;
mod conversation;
mod dry;
mod earlier;
mod finish;
mod flush;
mod flush_mark;
mod flush_tools;
mod guarding;
mod input;
mod noted;
mod parts;
mod session;
mod steering;
mod teller;

pub use conversation::{HistoryInputs, HistoryOptions, SentHistory, sent_history};
pub use dry::DryRun;
pub use input::{Keeper, TurnInput};
pub use parts::{Candidate, NoApprover, Parts, PriceOf, ResetAsk, Surroundings};
pub use steering::{Steer, Steering};
pub use teller::Events;

use crate::compat;
use crate::engine::{Assembly, SessionRef, TurnEnd};
use crate::journal::Journal;
use crate::lane::Lanes;
use crate::limits::Spent;
use crate::source::{Ask, RecallAsk, Seen, SourceError, Trigger};
use ask::{Answer, Question};
use chitin_model::ModelError;
use chitin_protocol::event::{RefusedPart, RuleRefusal, TurnEvent};
use chitin_protocol::message::{AssistantMessage, Message, StopReason, Usage};
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::EntryBody;
use chitin_store::{Begin, StoreError};
use compact::Reason;
use conversation::Conversation;
use earlier::Earlier;
use guarding::HeldReply;
use input::message_of;
use session::Held;
use std::path::PathBuf;
use std::sync::Mutex;
use teller::Teller;
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// Runs turns.
pub struct Agent {
    pub(crate) parts: Parts,
    /// What the model is told of the tools: the same bytes on every turn.
    pub(crate) specs: Vec<ToolSpec>,
    lanes: Lanes,
    /// The last request of each session, to see how much of it the next one repeats.
    pub(crate) last_body: Mutex<Option<(String, bytes::Bytes)>>,
}

/// How a turn went wrong before, or beside, the model's answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// There is no context.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The session cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model cannot be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A limit was reached.
    #[error("stopped: {0}")]
    Limit(String),
    /// There is no model.
    #[error("no model is configured")]
    NoModel,
    /// Something of ours went wrong.
    #[error("{0}")]
    Internal(String),
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The last answer's text.
    pub text: String,
    /// Tokens and cost of all calls.
    pub usage: Usage,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// What a rule of the workspace refused: the message, or the last reply.
    pub refused: Option<(RefusedPart, RuleRefusal)>,
}

impl Agent {
    /// Makes an agent of its parts.
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

    /// Returns what the model is told of the tools.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns the parts.
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Runs a turn and tells what happens.
    ///
    /// Stop it by the token: the partial answer is then kept and marked. Do not drop the future in the middle: records that
    /// were being written would still be written, but nobody would hear of it.
    pub async fn turn(
        &self,
        input: TurnInput,
        events: Events,
        cancel: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let lane = self.lane(&input.session_key).await;
        let report = self.turn_in_lane(&input, Teller::new(events), cancel).await;
        drop(lane);
        self.lanes.leave(&input.session_key);
        report
    }

    async fn turn_in_lane(
        &self,
        input: &TurnInput,
        teller: Teller,
        cancel: CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        // Held until the turn is over: it counts as under way so long.
        let _admission = match self.admit(input) {
            Ok(admission) => admission,
            Err(refusal) => return self.refuse(input, *refusal, teller, &cancel).await,
        };
        let mut running = Running::begin(self, input, teller, cancel).await?;
        let stop = running.cancel.clone();
        let (outcome, late) = {
            let conversing = running.converse(input);
            tokio::pin!(conversing);
            // The token stops the turn in an orderly way; dropping it here would lose the session.
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

/// Somebody's words as they are sent.
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) images: usize,
    /// How many messages stood before them.
    pub(crate) before: usize,
}

/// A turn under way.
pub(crate) struct Running<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) run_id: String,
    pub(crate) session_key: String,
    /// What started the turn.
    pub(crate) trigger: Trigger,
    /// The channel that it came through.
    pub(crate) channel: Option<String>,
    pub(crate) teller: Teller,
    pub(crate) cancel: CancellationToken,
    pub(crate) session: Held,
    pub(crate) conversation: Conversation,
    pub(crate) seen: Seen,
    pub(crate) system: String,
    /// What the engine lets the model see, where that is not the whole conversation.
    pub(crate) chosen: Option<Vec<Message>>,
    /// How many records there were before the turn.
    pub(crate) records_before: usize,
    pub(crate) candidate: usize,
    pub(crate) spent: Spent,
    pub(crate) journal: Journal,
    /// Whether the journal has been told how the turn began.
    pub(crate) journal_open: bool,
    pub(crate) session_id: String,
    pub(crate) transcript: PathBuf,
    pub(crate) prompt: Prompt,
    pub(crate) marked: bool,
    /// What the transcript holds of this turn already.
    pub(crate) earlier: Option<Earlier>,
    /// How many answers of this turn there were.
    pub(crate) answers: u32,
    pub(crate) keeper: Keeper,
    /// Records that are written, and may not be on the disk yet.
    pub(crate) untold: Vec<chitin_protocol::transcript::Entry>,
    pub(crate) last: Option<AssistantMessage>,
    pub(crate) cost_before: f64,
    /// Whether the agent was asked in this turn to write down what it will forget.
    pub(crate) flush_tried: bool,
    /// The reply that is held back until it is judged, where replies are judged.
    pub(crate) held: Option<HeldReply>,
    /// What a rule of the workspace refused.
    pub(crate) refused: Option<(RefusedPart, RuleRefusal)>,
}

impl<'a> Running<'a> {
    async fn begin(
        agent: &'a Agent,
        input: &TurnInput,
        teller: Teller,
        cancel: CancellationToken,
    ) -> Result<Self, TurnError> {
        let parts = &agent.parts;
        let candidate = parts.models.first().ok_or(TurnError::NoModel)?;
        let now_ms = parts.clock.now_ms();
        let key = input.session_key.clone();
        let stale = match parts.store.find(&key)? {
            Some(entry) if !input.afresh => (parts.reset)(&ResetAsk {
                session_key: &key,
                updated_at: entry.updated_at,
                now_ms,
            }),
            Some(_) | None => false,
        };
        if stale || input.afresh {
            parts.source.release(&key);
        }
        let now = crate::clock::iso(now_ms);
        let begin = Begin {
            workspace: &parts.workspace.to_string_lossy(),
            now: &now,
            now_ms,
            afresh: stale || input.afresh,
        };
        let session = Held::open(parts, &key, &begin, &cancel).await?;
        let run_id = parts.clock.unique();
        let open = session.get()?;
        let (session_id, transcript) = (open.header().id.clone(), open.transcript());
        let mut conversation = Conversation::of(open.branch(), parts);
        let marked = conversation.is_marked();
        let earlier = input
            .key
            .as_deref()
            .and_then(|key| Earlier::find(conversation.entries(), key, now_ms));
        let records_before = conversation.entries().len();
        let session_ref = SessionRef {
            id: &session_id,
            key: &key,
        };
        if records_before > 0 {
            let entries = conversation.entries();
            if let Err(error) = parts.engine.bootstrap(session_ref, entries).await {
                teller.note(&error.to_string()).await;
            }
        }
        let model = candidate.full_name();
        teller
            .tell(TurnEvent::TurnStarted {
                run_id: run_id.clone(),
                session_key: key.clone(),
                session_id: session_id.clone(),
                model: model.clone(),
                contract: parts.contract.name.to_owned(),
            })
            .await;
        if stale {
            teller
                .note("the session was last used too long ago: a new one begins")
                .await;
        }
        for note in open.notes() {
            teller.note(&teller::words_of(note)).await;
        }
        let cost_before = open.entry().estimated_cost_usd.unwrap_or_default();
        let recalled = parts
            .source
            .recall(RecallAsk {
                session_key: &key,
                session_id: &session_id,
                words: &input.words,
                occasion: &input.occasion,
            })
            .await;
        for note in &recalled.notes {
            teller.note(note).await;
        }
        let seen = parts.source.look(&Ask {
            session_key: &key,
            session_id: &session_id,
            marked,
            model: &model,
            tools: &agent.specs,
            occasion: &input.occasion,
            memory: &recalled.results,
        })?;
        for note in &seen.notes {
            teller.note(note).await;
        }
        conversation.carry(seen.context.conversation_files());
        let system = seen.context.request_system();
        let journal = (parts.journal)();
        let prompt = Prompt {
            text: seen.context.user_message(&input.words),
            images: input.images.len(),
            before: conversation.messages().len(),
        };
        Ok(Self {
            agent,
            run_id,
            session_key: key,
            trigger: input.occasion.trigger,
            channel: input.occasion.channel.clone(),
            teller,
            cancel,
            session,
            conversation,
            seen,
            system,
            chosen: None,
            records_before,
            candidate: 0,
            spent: Spent::default(),
            journal,
            journal_open: false,
            session_id,
            transcript,
            prompt,
            marked,
            earlier,
            answers: 0,
            keeper: input.keeper,
            untold: Vec::new(),
            last: None,
            cost_before,
            flush_tried: false,
            held: None,
            refused: None,
        })
    }

    /// Asks and runs tools until the model has nothing more to do.
    async fn converse(&mut self, input: &TurnInput) -> Result<(), TurnError> {
        let mut pending = match self.earlier.take() {
            Some(earlier) => match self.go_on(earlier).await {
                Some(pending) => pending,
                None => return Ok(()),
            },
            None => self.opening(input),
        };
        loop {
            self.flush_memory(input).await;
            // Whoever stopped the turn while notes were written does not want to wait for a summary either.
            let is_too_long = || {
                let conversation = &self.conversation;
                conversation.is_too_long(&self.system, self.candidate())
            };
            if !self.cancel.is_cancelled() && is_too_long() {
                self.store(std::mem::take(&mut pending)).await?;
                self.compact(Reason::Full, None).await?;
            }
            if let Some(limit) = self.spent.over(&self.agent.parts.limits, self.cost_before) {
                self.store(pending).await?;
                return Err(TurnError::Limit(limit));
            }
            let answer = match self.ask(std::mem::take(&mut pending)).await? {
                Answer::TooLong(error) => {
                    if !self.compact(Reason::Refused, None).await? {
                        return Err(error.into());
                    }
                    continue;
                }
                Answer::Message(message) => *message,
            };
            let (answer, refused) = self.judged(answer).await;
            let wants_tools = answer.stop_reason == Some(StopReason::ToolUse)
                && answer.tool_calls().next().is_some();
            let is_refused = refused.is_some();
            let stored = EntryBody::Message(Message::Assistant(answer.clone()));
            self.store(std::iter::once(stored).chain(refused).collect())
                .await?;
            self.tell_said(&answer).await;
            self.last = Some(answer.clone());
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
                let bodies = self.heard(came, input).await;
                let is_message = |body: &EntryBody| matches!(body, EntryBody::Message(_));
                if wants_tools || bodies.iter().any(is_message) {
                    break bodies;
                }
                // All that came was refused: the model has nothing to answer.
                self.store(bodies).await?;
            };
        }
    }

    /// Goes on with a turn that was asked for before; nothing comes back when it is over.
    async fn go_on(&mut self, earlier: Earlier) -> Option<Vec<EntryBody>> {
        for answer in &earlier.said {
            self.tell_said(answer).await;
        }
        if earlier.is_done() {
            self.last = earlier.said.into_iter().next_back();
            return None;
        }
        let now_ms = self.agent.parts.clock.now_ms();
        let results = earlier.missing.into_iter().map(Message::ToolResult);
        let mut bodies: Vec<EntryBody> = results.map(EntryBody::Message).collect();
        bodies.extend(self.conversation.model_records(self.candidate(), now_ms));
        Some(bodies)
    }

    /// Makes records of words that came while the turn ran. They say which turn heard them.
    async fn heard(&mut self, came: Vec<Steer>, input: &TurnInput) -> Vec<EntryBody> {
        let now_ms = self.agent.parts.clock.now_ms();
        let mut bodies = Vec::new();
        for steer in came {
            if let Some(record) = self.judge_steered(&steer, input).await {
                bodies.push(record);
                continue;
            }
            self.teller
                .tell(TurnEvent::Steered {
                    key: steer.key.clone(),
                })
                .await;
            let mut message = message_of(steer, now_ms);
            if let (Message::User(message), Some(turn)) = (&mut message, input.key.as_deref()) {
                let extra = &mut message.extra;
                extra.insert(compat::STEERED_INTO.to_owned(), turn.into());
            }
            bodies.push(EntryBody::Message(message));
        }
        bodies
    }

    /// Tells what the model said, once it is on the disk.
    async fn tell_said(&mut self, answer: &AssistantMessage) {
        let text = answer.content.text();
        let index = self.answers;
        self.answers += 1;
        if !text.trim().is_empty() {
            self.teller.tell(TurnEvent::Said { index, text }).await;
        }
    }

    /// Returns the records that come before the first answer: what changed about the model, and somebody's words.
    fn opening(&self, input: &TurnInput) -> Vec<EntryBody> {
        let parts = &self.agent.parts;
        let now_ms = parts.clock.now_ms();
        let mut bodies = self.conversation.model_records(self.candidate(), now_ms);
        bodies.extend(self.conversation.due_files());
        let message = input.message(self.prompt.text.clone(), now_ms);
        bodies.push(EntryBody::Message(message));
        bodies
    }

    pub(crate) fn candidate(&self) -> &'a Candidate {
        &self.agent.parts.models[self.candidate]
    }

    /// Puts records on the disk, then into the conversation, then tells of them.
    pub(crate) async fn store(&mut self, bodies: Vec<EntryBody>) -> Result<(), TurnError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let now = self.agent.parts.clock.now();
        let entries = self.session.append(bodies, now).await?;
        self.conversation.push(&entries);
        // What was written before is on the disk with it.
        let before = std::mem::take(&mut self.untold);
        self.tell_stored(&before).await;
        self.tell_stored(&entries).await;
        Ok(())
    }

    /// Tells of records that are on the disk.
    pub(crate) async fn tell_stored(&self, entries: &[chitin_protocol::transcript::Entry]) {
        for entry in entries {
            self.teller
                .tell(TurnEvent::Stored {
                    entry_id: entry.id.clone(),
                    kind: teller::kind_of(entry),
                })
                .await;
        }
    }

    /// Returns what the model is asked now.
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            system: &self.system,
            messages: self.messages(),
            tools: &self.agent.specs,
        }
    }

    /// Returns what the model sees of the conversation.
    pub(crate) fn messages(&self) -> &[Message] {
        let chosen = self.chosen.as_deref();
        chosen.unwrap_or_else(|| self.conversation.messages())
    }

    /// Lets the engine decide what the model sees. One that fails is passed over: the conversation itself is sent.
    pub(crate) async fn let_engine_choose(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        if parts.engine.passes_through() {
            return Ok(());
        }
        let open = self.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
        };
        let assembly = Assembly {
            messages: self.conversation.messages().to_vec(),
            token_budget: self.conversation.window(),
            model: self.candidate().full_name(),
            prompt: Some(self.prompt.text.clone()),
        };
        match parts.engine.assemble(session, assembly).await {
            Ok(context) => {
                self.chosen = Some(context.messages);
                self.system = self.seen.context.request_system();
                if let Some(addition) = context.system_prompt_addition {
                    self.system.push_str("\n\n");
                    self.system.push_str(&addition);
                }
            }
            Err(error) => {
                // Nothing of an earlier answer may stay behind, its addition to the system prompt least of all.
                self.chosen = None;
                self.system = self.seen.context.request_system();
                self.teller.note(&error.to_string()).await;
            }
        }
        Ok(())
    }

    /// Tells the engine what the turn added.
    pub(crate) async fn tell_engine(&mut self) -> Result<(), TurnError> {
        let parts = &self.agent.parts;
        let open = self.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
        };
        let turn = TurnEnd {
            branch: self.conversation.entries(),
            records_before: self.records_before.min(self.conversation.entries().len()),
            is_heartbeat: false,
        };
        let mut told = parts.engine.after_turn(session, turn).await;
        if told.is_ok() {
            told = parts.engine.maintain(session).await.map(drop);
        }
        if let Err(error) = told {
            self.teller.note(&error.to_string()).await;
        }
        Ok(())
    }
}
