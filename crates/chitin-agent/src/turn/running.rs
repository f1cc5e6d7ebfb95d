//! A turn in progress: what it knows, and how it begins.

use super::ask::unless_stopped;
use super::conversation::{self, Conversation};
use super::event_sink::{self, EventSink};
use super::guarding::HeldReply;
use super::resume::Resumed;
use super::session::SessionHandle;
use super::untrusted::TurnOrigins;
use super::writing::TurnCheckpoint;
use super::{
    Agent, Durability, ModelCandidate, OnOutage, ResetAsk, TurnApprover, TurnError, TurnInput,
};
use crate::blocking;
use crate::engine::SessionRef;
use crate::journal::Journal;
use crate::limits::Spent;
use crate::source::{ContextRequest, PreparedContext, RecallAsk, RecalledPath, Trigger};
use chitin_context::Context;
use chitin_protocol::event::{RefusedPart, RuleRefusal, TurnEvent};
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::transcript::TranscriptEntry;
use chitin_store::Begin;
use chitin_tools::{Approver, GuestRights};
use chitin_workspace::adapter::LazyDefinition;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A turn in progress. What changes together is one value.
pub(crate) struct Running<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) identity: TurnIdentity,
    pub(crate) cancel: CancellationToken,
    pub(crate) sink: EventSink,
    pub(crate) journal: Journal,
    pub(crate) records: TurnRecords,
    pub(crate) conversation: Conversation,
    pub(crate) request: RequestContext,
    pub(crate) progress: Progress,
    pub(crate) judgement: Judgement,
    pub(crate) checkpoint: TurnCheckpoint,
    pub(crate) origins: TurnOrigins,
}

/// Which turn this is, and of which session. Set when it begins.
pub(crate) struct TurnIdentity {
    pub(crate) run_id: String,
    pub(crate) session_key: String,
    pub(crate) session_id: String,
    pub(crate) transcript: PathBuf,
    /// What started the turn.
    pub(crate) trigger: Trigger,
    /// The channel that the message came through.
    pub(crate) channel: Option<String>,
    pub(crate) definition: LazyDefinition,
    /// What its tools may do, if it answers a guest.
    pub(crate) guest: Option<GuestRights>,
    /// Who is asked for permission.
    pub(crate) approver: Arc<dyn Approver>,
}

/// The session's file, and what this turn has written to it.
pub(crate) struct TurnRecords {
    pub(crate) session: SessionHandle,
    /// How many records there were before the turn.
    pub(crate) before: usize,
    /// Whether the first turn of the session has been completed.
    pub(crate) is_marked: bool,
    /// What the transcript already holds of this turn, when it is resumed.
    pub(crate) resumed: Option<Resumed>,
    pub(crate) durability: Durability,
    pub(crate) outage: OnOutage,
    /// Records that are written, perhaps not on the disk yet, and not reported.
    pub(crate) unreported: Vec<TranscriptEntry>,
}

/// What the next request is made of, besides the conversation.
pub(crate) struct RequestContext {
    /// What the workspace gave.
    pub(crate) prepared: PreparedContext,
    /// The context that is sent: the workspace's, with what the context engine adds.
    pub(crate) context: Arc<Context>,
    pub(crate) system: String,
    /// The messages that the context engine selected, if not the whole conversation.
    pub(crate) selected: Option<Vec<Message>>,
    pub(crate) message: SentMessage,
    /// What was remembered for the message.
    pub(crate) recalled: Vec<RecalledPath>,
}

/// The user's message as it is sent.
pub(crate) struct SentMessage {
    /// What the sender wrote.
    pub(crate) words: String,
    /// What is sent of it, with what the contract adds.
    pub(crate) text: String,
    pub(crate) images: usize,
    /// How many messages the conversation had before it.
    pub(crate) before: usize,
}

/// How far the turn has come, and what it has cost.
pub(crate) struct Progress {
    /// Which of the agent's models is asked.
    pub(crate) candidate: usize,
    pub(crate) spent: Spent,
    pub(crate) cost_before: f64,
    /// How many replies of the model there were.
    pub(crate) replies: u32,
    pub(crate) last_reply: Option<AssistantMessage>,
    /// Whether the agent was asked in this turn to save notes before compaction.
    pub(crate) flush_tried: bool,
    /// Whether the journal has the beginning of the turn.
    pub(crate) is_journaled: bool,
}

/// What the rules of the workspace made of the turn.
#[derive(Default)]
pub(crate) struct Judgement {
    /// The reply that is held back until it is judged, where replies are judged.
    pub(crate) held: Option<HeldReply>,
    /// What was refused.
    pub(crate) refused: Option<(RefusedPart, RuleRefusal)>,
}

impl<'a> Running<'a> {
    /// Opens the session, reads the workspace and reports that the turn started.
    pub(super) async fn begin(
        agent: &'a Agent,
        input: &TurnInput,
        sink: EventSink,
        cancel: CancellationToken,
    ) -> Result<Self, TurnError> {
        let parts = &agent.parts;
        let candidate = parts.models.first().ok_or(TurnError::NoModel)?;
        let now_ms = parts.clock.now_ms();
        let key = input.session_key.clone();
        let stale = match blocking(|| parts.store.find(&key))? {
            Some(entry) if !input.new_session => (parts.reset)(&ResetAsk {
                session_key: &key,
                updated_at: entry.updated_at,
                now_ms,
            }),
            Some(_) | None => false,
        };
        if stale || input.new_session {
            parts.source.release(&key);
        }
        let now = crate::clock::iso(now_ms);
        let begin = Begin {
            workspace: &parts.workspace.to_string_lossy(),
            now: &now,
            now_ms,
            new_session: stale || input.new_session,
        };
        let mut measure = conversation::measure(parts, input.key.as_deref());
        let session = SessionHandle::open(parts, &key, &begin, &cancel, &mut measure).await?;
        let older = measure.end();
        let run_id = parts.clock.unique();
        let open = session.get()?;
        let (session_id, transcript) = (open.header().id.clone(), open.transcript());
        let guest = parts.guest(&input.origin);
        let mut conversation = Conversation::of(open.branch(), Some(&older), parts);
        conversation.withhold_files(guest);
        let is_marked = conversation.is_marked();
        let resumed = input.key.as_deref().and_then(|key| {
            let held = Resumed::find(conversation.entries(), key, now_ms);
            held.or_else(|| Resumed::find(&older.turn, key, now_ms))
        });
        let records_before = conversation.entries().len();
        let definition = parts.source.definition();
        let session_ref = SessionRef {
            id: &session_id,
            key: &key,
            agent: &definition,
        };
        if records_before > 0 {
            let loading = parts.engine.bootstrap(session_ref, conversation.entries());
            if let Some(Err(error)) = unless_stopped(&cancel, loading).await {
                sink.note(&error.to_string()).await;
            }
        }
        let model = candidate.full_name();
        sink.tell(TurnEvent::TurnStarted {
            run_id: run_id.clone(),
            session_key: key.clone(),
            session_id: session_id.clone(),
            model: model.clone(),
            contract: parts.contract.name.to_owned(),
        })
        .await;
        if stale {
            sink.note("the session was last used too long ago: a new one begins")
                .await;
        }
        for note in open.notes() {
            sink.note(&event_sink::words_of(note)).await;
        }
        let cost_before = open.entry().estimated_cost_usd.unwrap_or_default();
        let recalled = parts
            .source
            .recall(RecallAsk {
                session_key: &key,
                session_id: &session_id,
                words: &input.words,
                occasion: &input.occasion,
                guest,
            })
            .await;
        for note in &recalled.notes {
            sink.note(note).await;
        }
        let ask = ContextRequest {
            session_key: &key,
            session_id: &session_id,
            marked: is_marked,
            model: &model,
            tools: &agent.specs,
            occasion: &input.occasion,
            memory: &recalled.results,
            records: conversation.entries(),
            guest,
        };
        let prepared = blocking(|| parts.source.look(&ask))?;
        for note in &prepared.notes {
            sink.note(note).await;
        }
        conversation.carry(prepared.context.conversation_files());
        Ok(Self {
            agent,
            identity: TurnIdentity {
                run_id,
                session_key: key,
                session_id,
                transcript,
                trigger: input.occasion.trigger,
                channel: input.occasion.channel.clone(),
                definition,
                guest,
                approver: match &input.approver {
                    Some(TurnApprover(approver)) => Arc::clone(approver),
                    None => Arc::clone(&parts.approver),
                },
            },
            cancel,
            sink,
            journal: (parts.journal)(),
            records: TurnRecords {
                session,
                before: records_before,
                is_marked,
                resumed,
                durability: input.durability,
                outage: input.outage,
                unreported: Vec::new(),
            },
            request: RequestContext {
                context: Arc::clone(&prepared.context),
                system: prepared.context.request_system(),
                selected: None,
                message: SentMessage {
                    words: input.words.clone(),
                    text: prepared.context.user_message(&input.words),
                    images: input.images.len(),
                    before: conversation.messages().len(),
                },
                prepared,
                recalled: recalled.paths,
            },
            conversation,
            progress: Progress {
                candidate: 0,
                spent: Spent::default(),
                cost_before,
                replies: 0,
                last_reply: None,
                flush_tried: false,
                is_journaled: false,
            },
            judgement: Judgement::default(),
            checkpoint: TurnCheckpoint::default(),
            origins: TurnOrigins::default(),
        })
    }

    /// Returns the model that is asked.
    pub(crate) fn candidate(&self) -> &'a ModelCandidate {
        &self.agent.parts.models[self.progress.candidate]
    }
}
