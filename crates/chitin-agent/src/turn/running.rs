//! A turn under way: what it knows, and how it begins.

use super::conversation::Conversation;
use super::event_sink::{self, EventSink};
use super::guarding::HeldReply;
use super::resume::Earlier;
use super::session::SessionHandle;
use super::{Agent, Durability, ModelCandidate, ResetAsk, TurnError, TurnInput};
use crate::blocking;
use crate::engine::SessionRef;
use crate::journal::Journal;
use crate::limits::Spent;
use crate::source::{ContextRequest, PreparedContext, RecallAsk, Trigger};
use chitin_context::Context;
use chitin_protocol::event::{RefusedPart, RuleRefusal, TurnEvent};
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_store::Begin;
use chitin_workspace::adapter::LazyDefinition;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Somebody's words as they are sent.
pub(crate) struct SentMessage {
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
    pub(crate) sink: EventSink,
    pub(crate) cancel: CancellationToken,
    pub(crate) session: SessionHandle,
    pub(crate) conversation: Conversation,
    pub(crate) seen: PreparedContext,
    /// The agent's definition, for whoever asks for it in this turn.
    pub(crate) definition: LazyDefinition,
    /// The context that is sent: with what the engine adds to it.
    pub(crate) context: Arc<Context>,
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
    pub(crate) prompt: SentMessage,
    pub(crate) marked: bool,
    /// What the transcript holds of this turn already.
    pub(crate) earlier: Option<Earlier>,
    /// How many answers of this turn there were.
    pub(crate) answers: u32,
    pub(crate) keeper: Durability,
    /// Records that are written, and may not be on the disk yet.
    pub(crate) untold: Vec<chitin_protocol::transcript::TranscriptEntry>,
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
    /// Opens the session, looks at the workspace anew and tells that the turn started.
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
        let session = SessionHandle::open(parts, &key, &begin, &cancel).await?;
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
        let definition = parts.source.definition();
        let session_ref = SessionRef {
            id: &session_id,
            key: &key,
            agent: &definition,
        };
        if records_before > 0 {
            let entries = conversation.entries();
            if let Err(error) = parts.engine.bootstrap(session_ref, entries).await {
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
            })
            .await;
        for note in &recalled.notes {
            sink.note(note).await;
        }
        let ask = ContextRequest {
            session_key: &key,
            session_id: &session_id,
            marked,
            model: &model,
            tools: &agent.specs,
            occasion: &input.occasion,
            memory: &recalled.results,
            records: conversation.entries(),
        };
        let seen = blocking(|| parts.source.look(&ask))?;
        for note in &seen.notes {
            sink.note(note).await;
        }
        conversation.carry(seen.context.conversation_files());
        let system = seen.context.request_system();
        let journal = (parts.journal)();
        let prompt = SentMessage {
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
            sink,
            cancel,
            session,
            conversation,
            context: Arc::clone(&seen.context),
            seen,
            definition,
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

    /// Returns the model that is asked.
    pub(crate) fn candidate(&self) -> &'a ModelCandidate {
        &self.agent.parts.models[self.candidate]
    }
}
