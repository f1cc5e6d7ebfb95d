//! The end of a turn: failures are recorded, the index is updated, and the outcome is reported.

use super::{Fault, OnOutage, Running, TurnError, TurnReport};
use crate::history::first_turn_marker;
use crate::journal::{RunEnded, RunError, TurnMoment, TurnStop};
use crate::limits::Spending;
use chitin_model::ModelError;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{AssistantMessage, Content, Extra, Message, StopReason, Usage};
use chitin_protocol::transcript::EntryBody;
use chitin_store::{SessionEntry, SessionTotals};

impl Running<'_> {
    /// Ends the turn. A failing disk is an error; records that it concerns were never reported as stored.
    pub(super) async fn finish(
        mut self,
        outcome: Result<(), TurnError>,
    ) -> Result<TurnReport, TurnError> {
        self.end_checkpoint().await;
        let cancelled = self.cancel.is_cancelled();
        let error = match outcome {
            Ok(()) | Err(TurnError::Model(ModelError::Cancelled)) => None,
            Err(TurnError::Elsewhere) => {
                self.end_journal(&StopReason::Aborted, None);
                return Err(TurnError::Elsewhere);
            }
            Err(error @ (TurnError::Store(_) | TurnError::Internal(_) | TurnError::Source(_))) => {
                self.end_journal(&StopReason::Error, Some(("store", &error.to_string())));
                return Err(error);
            }
            Err(error) if self.is_asked_again(&error) => {
                // Nobody learns from a record of each attempt, and the model would be told of all of them.
                self.end_journal(&StopReason::Error, Some(("model", &error.to_string())));
                return Err(error);
            }
            Err(error) => Some(error),
        };
        if let Some(error) = &error {
            self.keep_failure(error).await?;
        }
        let stop_reason = match (&error, cancelled) {
            (Some(_), _) => StopReason::Error,
            (None, true) => StopReason::Aborted,
            (None, false) => self
                .progress
                .last_reply
                .as_ref()
                .and_then(|last| last.stop_reason.clone())
                .unwrap_or(StopReason::Stop),
        };
        let completed = matches!(stop_reason, StopReason::Stop | StopReason::Length);
        if completed && self.request.prepared.mark_when_done && !self.records.is_marked {
            let now_ms = self.agent.parts.clock.now_ms();
            let id = self.records.session.get()?.header().id.clone();
            self.store(vec![first_turn_marker(now_ms, &self.identity.run_id, &id)])
                .await?;
        }
        if error.is_none() {
            self.tell_engine().await?;
        }
        let origins = self.origins_at_end().await?;
        self.update_index(&stop_reason).await?;
        let said = self.progress.last_reply.as_ref();
        let secrets = self.agent.parts.tools.redactor();
        let report = TurnReport {
            // The transcript has it as the model said it; whoever gets the report delivers it.
            text: said.map_or_else(String::new, |last| {
                secrets.redact_known(&last.content.text())
            }),
            usage: self.progress.spent.spending.usage,
            error: error
                .as_ref()
                .map(ToString::to_string)
                .or_else(|| said.and_then(|last| last.error_message.clone())),
            stop_reason,
            refused: self.judgement.refused.take(),
            origins,
        };
        let failed = report.error.as_deref().map(|error| ("model", error));
        self.end_journal(&report.stop_reason, failed);
        self.sink
            .tell(TurnEvent::TurnFinished {
                stop_reason: report.stop_reason.clone(),
                text: report.text.clone(),
                usage: report.usage,
                tokens_unknown: self.progress.spent.spending.tokens_unknown,
                cost_unknown: self.progress.spent.spending.cost_unknown,
                calls: self.progress.spent.calls,
                context_tokens: self.in_window(),
                context_window: self.candidate().context_window,
                error: report.error.clone(),
            })
            .await;
        match error {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }

    /// Tells whether the caller asks again after a failure.
    pub(super) fn is_asked_again(&self, error: &TurnError) -> bool {
        let asks = self.records.outage == OnOutage::AskedAgain && !self.cancel.is_cancelled();
        match error.fault() {
            Fault::Own => false,
            Fault::Machine | Fault::Model => asks,
        }
    }

    fn end_journal(&mut self, stop_reason: &StopReason, failed: Option<(&str, &str)>) {
        self.open_journal();
        let messages = self.conversation.messages();
        self.journal.observe(TurnMoment::SessionAfter { messages });
        let stopped = match (stop_reason, self.cancel.is_cancelled()) {
            (_, true) => Some(TurnStop::ByCaller),
            (StopReason::Error, false) if failed.is_none() => Some(TurnStop::ByItself),
            (_, false) => None,
        };
        self.journal.observe(TurnMoment::RunEnded(&RunEnded {
            stop_reason: Some(stop_reason),
            stopped,
            error: failed.map(|(source, message)| RunError { source, message }),
            prompt: &self.request.message.text,
            messages,
            spending: Some(&self.progress.spent.spending),
        }));
    }

    /// Records in the transcript that there was no reply, and why.
    async fn keep_failure(&mut self, error: &TurnError) -> Result<(), TurnError> {
        let candidate = self.candidate();
        let message = AssistantMessage {
            content: Content::Blocks(Vec::new()),
            api: Some(candidate.model.api().name().to_owned()),
            provider: Some(candidate.model.provider().to_owned()),
            model: Some(candidate.model.name().to_owned()),
            usage: Some(Usage::default()),
            stop_reason: Some(StopReason::Error),
            error_message: Some(error.to_string()),
            timestamp: Some(self.agent.parts.clock.now_ms()),
            response_id: None,
            extra: Extra::new(),
        };
        self.store(vec![EntryBody::Message(Message::Assistant(message))])
            .await
    }

    /// Returns the tokens of the last request, as the provider counted them.
    fn in_window(&self) -> Option<u64> {
        let usage = self.progress.last_reply.as_ref()?.usage?;
        let sent = usage.input + usage.cache_read + usage.cache_write;
        (sent > 0).then_some(sent)
    }

    async fn update_index(&mut self, stop_reason: &StopReason) -> Result<(), TurnError> {
        let now_ms = self.agent.parts.clock.now_ms();
        let candidate = self.candidate();
        let (provider, model) = (
            candidate.model.provider().to_owned(),
            candidate.model.name().to_owned(),
        );
        let window = candidate.context_window;
        let spending = self.progress.spent.spending;
        let usage = spending.usage;
        let in_window = self.in_window();
        let aborted = *stop_reason == StopReason::Aborted;
        self.records
            .session
            .update(move |entry| {
                add_spending(entry, &spending, 1);
                entry.updated_at = now_ms;
                entry.model_provider = Some(provider.clone());
                entry.model = Some(model.clone());
                entry.context_tokens = window;
                entry.input_tokens = Some(usage.input);
                entry.output_tokens = Some(usage.output);
                entry.cache_read = Some(usage.cache_read);
                entry.cache_write = Some(usage.cache_write);
                entry.total_tokens = in_window.or(entry.total_tokens);
                entry.total_tokens_fresh = Some(in_window.is_some());
                entry.aborted_last_run = Some(aborted);
            })
            .await
    }

    /// Adds the usage of a requested compaction to the index.
    pub(super) async fn count_summary(&mut self) -> Result<(), TurnError> {
        let spending = self.progress.spent.spending;
        self.records
            .session
            .update(move |entry| add_spending(entry, &spending, 0))
            .await
    }
}

/// Adds the usage of turns to the session's totals.
fn add_spending(entry: &mut SessionEntry, spending: &Spending, turns: u64) {
    let usage = &spending.usage;
    // A session without totals is either new, or was written by a program that does not count.
    let is_new = entry.input_tokens.is_none() && entry.totals.is_none();
    let totals = entry.totals.get_or_insert_with(|| SessionTotals {
        tokens_unknown: !is_new,
        ..SessionTotals::default()
    });
    for (total, more) in [
        (&mut totals.turns, turns),
        (&mut totals.input, usage.input),
        (&mut totals.output, usage.output),
        (&mut totals.cache_read, usage.cache_read),
        (&mut totals.cache_write, usage.cache_write),
    ] {
        *total = total.saturating_add(more);
    }
    totals.tokens_unknown |= spending.tokens_unknown;
    let before = if is_new {
        Some(0.0)
    } else {
        entry.estimated_cost_usd
    };
    entry.estimated_cost_usd = before
        .filter(|_| !spending.cost_unknown)
        .map(|before| before + usage.cost.total);
}
