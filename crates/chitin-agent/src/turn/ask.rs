//! Asks a model: builds the request as bytes, sends it, and reports the reply as it arrives.

use super::guarding::HeldReply;
use super::{Durability, ModelCandidate, Running, TurnError};
use crate::journal::TurnMoment;
use chitin_model::{EventStream, ModelError, ModelRequest, Prepared, StreamEvent};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, StopReason, Usage,
};
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::PendingRecords;
use futures_util::{FutureExt, StreamExt};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// How long a model or a context engine may go on after a turn was stopped.
const GRACE: Duration = Duration::from_millis(200);

/// What is sent to a model, before it is encoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [ToolSpec],
}

/// The outcome of asking.
pub(crate) enum ModelReply {
    /// The model answered, wholly or in part.
    Message(Box<AssistantMessage>),
    /// Nothing was answered: the conversation is too long.
    TooLong(ModelError),
}

impl Question<'_> {
    /// Builds the request for a model.
    pub(crate) fn prepare(
        &self,
        candidate: &ModelCandidate,
        rules: &chitin_contract::ProviderRules,
    ) -> Result<Prepared, ModelError> {
        candidate.model.prepare(&ModelRequest {
            model: candidate.model.name(),
            system: self.system,
            messages: self.messages,
            tools: self.tools,
            max_tokens: candidate.max_tokens,
            context_window: candidate.context_window,
            thinking: candidate.thinking.as_deref(),
            retention: candidate.retention,
            extra: &candidate.extra,
            rules,
        })
    }
}

impl Running<'_> {
    /// Asks the model, and the next one on the list if that may help. Pending records are written while the request is
    /// in flight; no part of the reply is reported before they are on disk.
    pub(crate) async fn ask(&mut self, pending: Vec<EntryBody>) -> Result<ModelReply, TurnError> {
        self.judgement.held = None;
        let now = self.agent.parts.clock.now();
        let mut pending = self.records.session.append_pending(pending, &now)?;
        if let Some(pending) = &pending {
            self.conversation.push(pending.entries());
        }
        if self.records.durability == Durability::Caller
            && let Some(pending) = pending.take()
        {
            // The caller has the message in its own log, so message and reply can share one wait for the disk.
            self.records.unreported.extend_from_slice(pending.entries());
        }
        for reason in self.conversation.sent_anew() {
            let note = format!("the provider's cache is of less use from here on: {reason}");
            self.sink.note(&note).await;
        }
        self.let_engine_select().await?;
        let mut attempt = 1;
        loop {
            let rules = self.agent.parts.contract.runtime.provider;
            let candidate = self.candidate();
            let mut prepared = self.question().prepare(candidate, &rules)?;
            prepared.tee = self.journal.tee();
            self.progress.spent.calls += 1;
            let told = self.request_event(&prepared);
            let span = tracing::info_span!(
                "model_call",
                model = candidate.full_name(),
                call = self.progress.spent.calls,
                attempt,
                bytes = prepared.body.len(),
            );
            let gone_out = CancellationToken::new();
            prepared.gone_out = Some(gone_out.clone());
            let sending = candidate
                .model
                .send(prepared.clone(), self.cancel.clone())
                .instrument(span.clone());
            let sending = async {
                let sent = sending.await;
                // Also if the request never left, or the model uses no network.
                gone_out.cancel();
                sent
            };
            let noting = async {
                let stored = on_disk(pending.take()).await;
                // The request's first byte goes out before the journal touches a file.
                gone_out.cancelled().await;
                self.record_workspace();
                self.journal_request(&prepared, None);
                stored
            };
            let (sent, stored) = tokio::join!(sending, noting);
            self.report_stored(&stored?).await;
            self.sink.tell(told).await;
            if let Err(error) = &sent {
                let error = error.to_string();
                self.journal.observe(TurnMoment::NotAnswered {
                    call: self.progress.spent.calls,
                    error: &error,
                });
            }
            let error = match sent {
                Ok(stream) => {
                    let answer = self.listen(stream).instrument(span).await;
                    return answer.map(ModelReply::Message);
                }
                Err(error @ ModelError::TooLong { .. }) => return Ok(ModelReply::TooLong(error)),
                Err(ModelError::Cancelled) => {
                    return Ok(ModelReply::Message(Box::new(self.partial(String::new()))));
                }
                Err(error) => error,
            };
            attempt = self.try_again(error, attempt).await?;
        }
    }

    /// Waits before the next attempt, moves on to the next model, or gives up.
    async fn try_again(&mut self, error: ModelError, attempt: u32) -> Result<u32, TurnError> {
        let parts = &self.agent.parts;
        let another_may = match &error {
            ModelError::Unauthorized { .. }
            | ModelError::Rejected { .. }
            | ModelError::RateLimited { .. }
            | ModelError::Upstream { .. }
            | ModelError::Unreachable { .. }
            | ModelError::TimedOut { .. }
            | ModelError::Malformed { .. } => true,
            ModelError::TooLong { .. }
            | ModelError::Unscripted(_)
            | ModelError::Unbuildable(_)
            | ModelError::Cancelled => false,
        };
        let (attempt, wait) = match parts.retry.wait(attempt, &error) {
            Some(wait) => (attempt + 1, wait),
            None if another_may && self.progress.candidate + 1 < parts.models.len() => {
                self.progress.candidate += 1;
                (1, Duration::ZERO)
            }
            None => return Err(error.into()),
        };
        // A provider's error may quote the request, so the log only says that it failed.
        tracing::warn!(
            attempt,
            wait_ms = wait.as_millis(),
            "asking the model again"
        );
        self.sink
            .tell(TurnEvent::Retrying {
                attempt,
                wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                reason: error.to_string(),
                model: self.candidate().full_name(),
            })
            .await;
        tokio::select! {
            () = tokio::time::sleep(wait) => Ok(attempt),
            () = self.cancel.cancelled() => Err(ModelError::Cancelled.into()),
        }
    }

    /// Describes the request, and how much of it repeats the previous one.
    pub(super) fn request_event(&self, prepared: &Prepared) -> TurnEvent {
        let same_prefix = self
            .agent
            .repeated_prefix(&self.identity.session_key, &prepared.body);
        TurnEvent::RequestSent {
            call: self.progress.spent.calls,
            api: prepared.api.name().to_owned(),
            bytes: prepared.body.len(),
            digest: prepared.digest.clone(),
            same_prefix,
        }
    }

    /// Reports the reply as it arrives.
    pub(super) async fn listen(
        &mut self,
        mut stream: EventStream,
    ) -> Result<Box<AssistantMessage>, TurnError> {
        let mut heard = String::new();
        // A reply that a rule may refuse is not shown before it is complete.
        let is_judged = self.agent.parts.guard.judges_replies();
        self.judgement.held = is_judged.then(HeldReply::default);
        // A model that ignores the token must not hold up the turn: it has one grace period, however much it still sends.
        let cancel = self.cancel.clone();
        let over = cancelled_for(&cancel, GRACE);
        tokio::pin!(over);
        let mut is_over = false;
        loop {
            let event = if is_over {
                None
            } else {
                tokio::select! {
                    biased;
                    () = &mut over => {
                        is_over = true;
                        // Events that arrived before the end still count.
                        stream.next().now_or_never().flatten()
                    }
                    event = stream.next() => event,
                }
            };
            let event = match event {
                Some(Ok(event)) => event,
                Some(Err(ModelError::Cancelled)) | None if self.cancel.is_cancelled() => {
                    return Ok(Box::new(self.partial(heard)));
                }
                Some(Err(error)) => {
                    let error = TurnError::Model(error);
                    if self.is_asked_again(&error) {
                        return Err(error);
                    }
                    let mut message = self.partial(heard);
                    message.stop_reason = Some(StopReason::Error);
                    message.error_message = Some(error.to_string());
                    return Ok(Box::new(message));
                }
                None => {
                    let reason = "the answer ended too soon";
                    let error = self.cut_off(reason);
                    if self.is_asked_again(&error) {
                        return Err(error);
                    }
                    let mut message = self.partial(heard);
                    message.stop_reason = Some(StopReason::Error);
                    message.error_message = Some(reason.to_owned());
                    return Ok(Box::new(message));
                }
            };
            self.journal.observe(TurnMoment::Streamed(&event));
            match event {
                StreamEvent::TextDelta { delta, .. } => {
                    heard.push_str(&delta);
                    match &mut self.judgement.held {
                        Some(held) => held.text.push_str(&delta),
                        None => self.sink.tell(TurnEvent::TextDelta { delta }).await,
                    }
                }
                StreamEvent::ThinkingDelta { delta, .. } => match &mut self.judgement.held {
                    Some(held) => held.thinking.push_str(&delta),
                    None => self.sink.tell(TurnEvent::ThinkingDelta { delta }).await,
                },
                StreamEvent::Done(message) => return Ok(Box::new(self.priced(*message))),
                StreamEvent::Failed(message) => {
                    let message = self.priced(*message);
                    let is_cut = message.stop_reason == Some(StopReason::Error);
                    let reason = message.error_message.as_deref().unwrap_or_default();
                    let error = self.cut_off(reason);
                    if is_cut && self.is_asked_again(&error) {
                        return Err(error);
                    }
                    return Ok(Box::new(message));
                }
                StreamEvent::Start
                | StreamEvent::TextStart { .. }
                | StreamEvent::TextEnd { .. }
                | StreamEvent::ThinkingStart { .. }
                | StreamEvent::ThinkingEnd { .. }
                | StreamEvent::ToolCallStart { .. }
                | StreamEvent::ToolCallDelta { .. }
                | StreamEvent::ToolCallEnd { .. } => {}
            }
        }
    }

    /// Says that a reply broke off.
    fn cut_off(&self, reason: &str) -> TurnError {
        TurnError::Model(ModelError::Unreachable {
            provider: self.candidate().model.provider().to_owned(),
            message: reason.to_owned(),
        })
    }

    /// Adds time and cost to a reply, and counts it.
    fn priced(&mut self, mut message: AssistantMessage) -> AssistantMessage {
        message.timestamp = Some(self.agent.parts.clock.now_ms());
        if let Some(usage) = &mut message.usage {
            let cost_known = self.candidate().charge(usage);
            self.progress.spent.add(usage, cost_known);
        }
        self.journal.observe(TurnMoment::Answered {
            call: self.progress.spent.calls,
            message: &message,
        });
        message
    }

    /// Makes a reply of the text that arrived before the turn was stopped.
    fn partial(&mut self, heard: String) -> AssistantMessage {
        let candidate = self.candidate();
        let content = if heard.is_empty() {
            Vec::new()
        } else {
            vec![Block::text(heard)]
        };
        let message = AssistantMessage {
            content: Content::Blocks(content),
            api: Some(candidate.model.api().name().to_owned()),
            provider: Some(candidate.model.provider().to_owned()),
            model: Some(candidate.model.name().to_owned()),
            usage: Some(Usage::default()),
            stop_reason: Some(StopReason::Aborted),
            error_message: None,
            timestamp: None,
            response_id: None,
            extra: Extra::new(),
        };
        self.priced(message)
    }
}

/// Waits until records are on disk, on another thread.
async fn on_disk(pending: Option<PendingRecords>) -> Result<Vec<TranscriptEntry>, TurnError> {
    let Some(pending) = pending else {
        return Ok(Vec::new());
    };
    let waited = tokio::task::spawn_blocking(move || pending.wait()).await;
    Ok(waited.map_err(|error| super::session::internal(&error))??)
}

/// Waits for an answer; returns nothing if the turn was stopped and the grace period is over.
pub(super) async fn unless_stopped<T>(
    cancel: &CancellationToken,
    answer: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        answer = answer => Some(answer),
        () = cancelled_for(cancel, GRACE) => None,
    }
}

/// Waits until the token has been cancelled for this long.
async fn cancelled_for(cancel: &CancellationToken, grace: Duration) {
    cancel.cancelled().await;
    tokio::time::sleep(grace).await;
}

impl super::Agent {
    /// Returns how many leading bytes a request shares with the session's previous one, and remembers this one.
    fn repeated_prefix(&self, session_key: &str, body: &bytes::Bytes) -> Option<usize> {
        let mut last = self
            .last_body
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let same = last
            .as_ref()
            .filter(|(key, _)| key == session_key)
            .map(|(_, last)| {
                let pairs = last.iter().zip(body.iter());
                pairs.take_while(|(left, right)| left == right).count()
            });
        *last = Some((session_key.to_owned(), body.clone()));
        same
    }
}
