//! Compaction: the context engine plans, a model writes the summary, the record is stored.

use super::ask::unless_stopped;
use super::conversation::window_of;
use super::{Agent, ModelCandidate, Running, TurnError, TurnInput, TurnReport};
use crate::engine::{
    CompactError, CompactOrder, CompactionOutcome, EngineError, SessionRef, Summarizer,
    SummaryError, When,
};
use crate::history::{Author, PlanOptions, SummaryRequest};
use crate::journal::TurnMoment;
use crate::origins;
use chitin_contract::ProviderRules;
use chitin_model::{ModelError, ModelRequest, Retention, StreamEvent};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{Message, StopReason, Usage};
use chitin_protocol::transcript::EntryBody;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many tokens a summary may have.
const SUMMARY_TOKENS: u64 = 8_000;

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// It fills the window.
    Full,
    /// By estimate, it will not fit together with the message that opens the turn (C21).
    TooMuch,
    /// The provider refused it as too long.
    Refused,
    /// The user asks for it.
    Asked,
}

impl Reason {
    const fn words(self) -> &'static str {
        match self {
            Self::Full => "the conversation fills the window",
            Self::TooMuch => "the conversation and the new message may not fit the window",
            Self::Refused => "the provider says that the conversation is too long",
            Self::Asked => "the user asks for it",
        }
    }
}

/// Writes summaries with the session's model.
struct ModelSummarizer<'a> {
    candidate: &'a ModelCandidate,
    rules: ProviderRules,
    cancel: CancellationToken,
    now_ms: i64,
    /// Usage of each call.
    taken: Mutex<Vec<(Usage, bool)>>,
}

impl Running<'_> {
    /// Compacts the conversation. Returns whether that saved anything.
    pub(crate) async fn compact(
        &mut self,
        reason: Reason,
        instructions: Option<&str>,
    ) -> Result<bool, TurnError> {
        let parts = &self.agent.parts;
        let rules = &parts.contract.runtime.history;
        let candidate = self.candidate();
        let options = self.conversation.options();
        let records = self.request.prepared.context.files.records.iter();
        let agents_file = records
            .filter(|record| *record.name == *"AGENTS.md")
            .find_map(|record| record.content().map(|content| content.text.to_string()));
        let before = self.conversation.tokens(&self.request.system);
        let mut plan = PlanOptions::new(window_of(candidate));
        plan.compacting = options.compacting;
        plan.agents_file = agents_file.as_deref();
        plan.instructions = instructions.or(options.instructions.as_deref());
        if let Some(turns) = options.preserved_turns {
            plan.preserved_turns = turns;
        }
        if reason == Reason::Asked {
            // The room is needed, so little is kept.
            plan.compacting.keep_recent_tokens = plan.compacting.keep_recent_tokens.min(before / 4);
        }
        // The message that opens the turn stays, whatever else is kept.
        let (branch, unanswered) = match reason {
            Reason::Full | Reason::TooMuch => self.conversation.up_to_message(),
            Reason::Refused | Reason::Asked => (self.conversation.entries(), 0),
        };
        let order = CompactOrder {
            branch,
            options: plan,
            tokens: before,
            overhead_tokens: self.conversation.overhead(&self.request.system) + unanswered,
            when: match reason {
                Reason::Full => When::IfNeeded,
                Reason::TooMuch | Reason::Refused | Reason::Asked => When::Now,
            },
            rules,
        };
        let summarizer = ModelSummarizer {
            candidate,
            rules: parts.contract.runtime.provider,
            cancel: self.cancel.clone(),
            now_ms: parts.clock.now_ms(),
            taken: Mutex::new(Vec::new()),
        };
        let open = self.records.session.get()?;
        let session = SessionRef {
            id: &open.header().id,
            key: open.key(),
            agent: &self.identity.definition,
        };
        let compacting = parts.engine.compact(session, &order, &summarizer);
        let cancelled = Err(EngineError::Compaction(CompactError::Cancelled));
        let outcome = unless_stopped(&self.cancel, compacting).await;
        let outcome = outcome.unwrap_or(cancelled);
        let taken = summarizer.taken.into_inner();
        for (usage, cost_known) in taken.unwrap_or_else(PoisonError::into_inner) {
            self.progress.spent.calls += 1;
            self.progress.spent.add(&usage, cost_known);
        }
        let mut compacted = match outcome {
            Ok(CompactionOutcome::Compacted(compacted)) => compacted,
            Ok(CompactionOutcome::Nothing { .. }) => return Ok(false),
            Err(EngineError::Compaction(CompactError::Cancelled)) => {
                return Err(ModelError::Cancelled.into());
            }
            Err(error) => return Err(TurnError::Limit(error.to_string())),
        };
        if let Author::Records { reason } = &compacted.author {
            let note =
                format!("no model wrote the summary, so it lists what the records say: {reason}");
            self.sink.note(&note).await;
        }
        let key = open.key().to_owned();
        self.look_for_origins().await;
        if !self.known_origins().is_empty() {
            origins::store(&mut compacted.record.extra, self.known_origins());
        }
        self.store(vec![EntryBody::Compaction(compacted.record)])
            .await?;
        self.journal.observe(TurnMoment::Compacted);
        parts.source.release(&key);
        self.records.is_marked = false;
        self.records
            .session
            .update(|entry| {
                entry.compaction_count = Some(entry.compaction_count.unwrap_or(0) + 1);
            })
            .await?;
        self.sink
            .tell(TurnEvent::Compacted {
                tokens_before: before,
                tokens_after: compacted.tokens_after,
                reason: reason.words().to_owned(),
            })
            .await;
        Ok(true)
    }
}

impl Summarizer for ModelSummarizer<'_> {
    fn summarize(&self, request: SummaryRequest) -> BoxFuture<'_, Result<String, SummaryError>> {
        Box::pin(async move {
            self.ask(&request).await.map_err(|error| match error {
                ModelError::Cancelled => SummaryError::Cancelled,
                error => SummaryError::Failed(error.to_string()),
            })
        })
    }
}

impl ModelSummarizer<'_> {
    async fn ask(&self, request: &SummaryRequest) -> Result<String, ModelError> {
        let candidate = self.candidate;
        let messages = [Message::user(&*request.user, self.now_ms)];
        let prepared = candidate.model.prepare(&ModelRequest {
            model: candidate.model.name(),
            system: &request.system,
            messages: &messages,
            tools: &[],
            max_tokens: candidate.max_tokens.min(SUMMARY_TOKENS),
            context_window: candidate.context_window,
            thinking: None,
            retention: Retention::None,
            extra: &candidate.extra,
            rules: &self.rules,
        })?;
        let mut stream = candidate.model.send(prepared, self.cancel.clone()).await?;
        let useless = |what: &str| ModelError::Malformed {
            provider: candidate.model.provider().to_owned(),
            message: what.to_owned(),
        };
        while let Some(event) = stream.next().await {
            match event? {
                StreamEvent::Done(message) => {
                    if let Some(mut usage) = message.usage {
                        let cost_known = candidate.charge(&mut usage);
                        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
                        taken.push((usage, cost_known));
                    }
                    let text = message.content.text();
                    return if text.trim().is_empty() {
                        Err(useless("an empty summary"))
                    } else {
                        Ok(text)
                    };
                }
                StreamEvent::Failed(_) if self.cancel.is_cancelled() => {
                    return Err(ModelError::Cancelled);
                }
                StreamEvent::Failed(message) => {
                    let said = message.error_message.unwrap_or_default();
                    return Err(useless(&said));
                }
                _ => {}
            }
        }
        Err(useless("an answer without an end"))
    }
}

impl Agent {
    /// Compacts a session now, whatever its length. Returns nothing if there is nothing to summarise.
    pub async fn compact_session(
        &self,
        session_key: &str,
        instructions: Option<&str>,
        events: super::Events,
        cancel: CancellationToken,
    ) -> Result<Option<TurnReport>, TurnError> {
        let _lane = self.lane(session_key).await;
        let input = TurnInput {
            session_key: session_key.to_owned(),
            ..TurnInput::default()
        };
        let sink = super::event_sink::EventSink::new(events, self.parts.tools.redactor());
        let mut running = Running::begin(self, &input, sink, cancel).await?;
        if !running.compact(Reason::Asked, instructions).await? {
            return Ok(None);
        }
        running.count_summary().await?;
        Ok(Some(TurnReport {
            stop_reason: StopReason::Stop,
            text: String::new(),
            usage: running.progress.spent.spending.usage,
            error: None,
            refused: None,
            origins: Vec::new(),
        }))
    }
}
