//! Memory flush: the agent saves notes before its conversation is compacted (M70, M71).
//!
//! It is a separate exchange: the conversation so far and one more message. The replies are not part of the conversation and
//! are not shown; the transcript gets one small record and no message. Whatever goes wrong, the turn goes on.

use super::calls::shortened;
use super::conversation::window_of;
use super::event_sink::EventSink;
use super::flush_mark::flushed_at;
use super::flush_tools::{Fence, lines};
use super::{Running, TurnError, TurnInput};
use crate::compat;
use crate::history::{FlushFigures, FlushState, flush_gate};
use crate::journal::TurnMoment;
use chitin_model::ModelError;
use chitin_protocol::message::{
    AssistantMessage, Content, Extra, Message, StopReason, ToolCallBlock, ToolResultMessage,
};
use chitin_protocol::session_key::is_subagent;
use chitin_protocol::transcript::EntryBody;
use chitin_workspace::filter::RunKind;
use chitin_workspace::state::DailyNotes;
use serde_json::json;
use std::sync::Arc;

/// The most requests of one flush.
const MOST_CALLS: u32 = 4;

/// The results so far.
#[derive(Debug, Default)]
struct Tally {
    calls: u32,
    lines: usize,
    refused: u32,
}

/// How it ended, if nothing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The model has no more notes, or may not be asked again.
    Done,
    /// The turn was stopped.
    Stopped,
}

impl Running<'_> {
    /// Lets the agent save notes if that is due: once per compaction, and at most once per turn.
    pub(crate) async fn flush_memory(&mut self, input: &TurnInput) {
        let Some(fence) = self.due(input) else {
            return;
        };
        self.progress.flush_tried = true;
        let path = fence.plan.relative_path.clone();
        let mut tally = Tally::default();
        let aloud = std::mem::replace(&mut self.sink, EventSink::mute());
        self.look_for_origins().await;
        let since = self.agent.parts.files.moment();
        let ended = self.write_down(&fence, &aloud, &mut tally).await;
        self.sink = aloud;
        self.take_down_changes(since, "write").await;
        let ended = match ended {
            Ok(ending) => self.keep_flush(ending, &path, &tally).await,
            Err(error) => Err(error),
        };
        if tally.lines > 0 {
            let note = format!(
                "wrote {} to `{path}` before shortening the conversation",
                lines(tally.lines)
            );
            self.sink.note(&note).await;
        }
        // Who stopped the turn needs no note.
        if let Err(error) = ended
            && !self.cancel.is_cancelled()
        {
            let note =
                format!("not all was written down before shortening the conversation: {error}");
            self.sink.note(&note).await;
            if tally.lines == 0 {
                self.count_failure().await;
            }
        }
    }

    /// Returns where the agent may write, if a flush is due.
    fn due(&self, input: &TurnInput) -> Option<Fence> {
        let parts = &self.agent.parts;
        let options = parts.history.flush.as_ref()?;
        let is_asked_by_somebody = input.occasion.run == RunKind::Default
            && !is_subagent(&self.identity.session_key, parts.contract.session_keys);
        // A guest's words do not become the owner's memory.
        let is_foreign = self
            .identity
            .guest
            .is_some_and(|guest| !(guest.memory && guest.writes));
        if self.progress.flush_tried
            || self.cancel.is_cancelled()
            || !is_asked_by_somebody
            || is_foreign
        {
            return None;
        }
        let rules = &parts.contract.runtime.memory.flush;
        let window = window_of(self.candidate());
        let figures = options.figures(Some(window), rules);
        let figures = FlushFigures {
            // The tokens kept free for the reply decide when compaction comes; the flush comes before it.
            reserve_floor: figures.reserve_floor.max(self.conversation.reserve(window)),
            ..figures
        };
        let open = self.records.session.get().ok()?;
        let entry = open.entry();
        let state = FlushState {
            tokens: self.conversation.tokens(&self.request.system),
            window,
            transcript_bytes: open.transcript_bytes(),
            compaction_count: entry.compaction_count.unwrap_or(0),
            flushed_at: flushed_at(entry),
        };
        if !flush_gate(&state, &figures).flush || !self.may_write() {
            return None;
        }
        let notes = DailyNotes::open(&parts.workspace).ok()?;
        let plan = options.plan(parts.clock.now_ms(), Some(window), rules);
        notes.may_append().then(|| Fence {
            notes: Arc::new(notes),
            plan: Arc::new(plan),
        })
    }

    /// Asks the model and runs its calls, restricted, until it is done.
    async fn write_down(
        &mut self,
        fence: &Fence,
        aloud: &EventSink,
        tally: &mut Tally,
    ) -> Result<Ending, TurnError> {
        self.let_engine_select().await?;
        let mut messages = self.messages().to_vec();
        let now_ms = self.agent.parts.clock.now_ms();
        messages.push(Message::user(&*fence.plan.message, now_ms));
        while tally.calls < MOST_CALLS {
            let limits = &self.agent.parts.limits;
            if let Some(limit) = self.progress.spent.over(limits, self.progress.cost_before) {
                return Err(TurnError::Limit(limit));
            }
            tally.calls += 1;
            let answer = self.ask_aside(&messages, aloud).await?;
            if self.cancel.is_cancelled() {
                return Ok(Ending::Stopped);
            }
            let calls: Vec<ToolCallBlock> = answer.tool_calls().cloned().collect();
            let wants_tools = answer.stop_reason == Some(StopReason::ToolUse);
            messages.push(Message::Assistant(answer));
            if !wants_tools || calls.is_empty() {
                return Ok(Ending::Done);
            }
            for call in &calls {
                let result = self.run_fenced(call, fence, tally).await?;
                messages.push(Message::ToolResult(result));
                if self.cancel.is_cancelled() {
                    return Ok(Ending::Stopped);
                }
            }
        }
        Ok(Ending::Done)
    }

    /// Asks the model without reporting the reply.
    async fn ask_aside(
        &mut self,
        messages: &[Message],
        aloud: &EventSink,
    ) -> Result<AssistantMessage, TurnError> {
        let rules = self.agent.parts.contract.runtime.provider;
        let candidate = self.candidate();
        let mut question = self.question();
        question.messages = messages;
        let mut prepared = question.prepare(candidate, &rules)?;
        prepared.tee = self.journal.tee();
        self.progress.spent.calls += 1;
        aloud.tell(self.request_event(&prepared)).await;
        let sent = candidate
            .model
            .send(prepared.clone(), self.cancel.clone())
            .await;
        self.journal_request(&prepared, Some(messages));
        let stream = match sent {
            Ok(stream) => stream,
            Err(error) => {
                let words = error.to_string();
                self.journal.observe(TurnMoment::NotAnswered {
                    call: self.progress.spent.calls,
                    error: &words,
                });
                return Err(error.into());
            }
        };
        let answer = *self.listen(stream).await?;
        match (&answer.stop_reason, &answer.error_message) {
            (Some(StopReason::Error), message) => Err(TurnError::Model(ModelError::Malformed {
                provider: candidate.model.provider().to_owned(),
                message: message.clone().unwrap_or_default(),
            })),
            _ => Ok(answer),
        }
    }

    /// Runs one restricted call. What is on disk is marked at once, so that it is not written again after a crash.
    async fn run_fenced(
        &mut self,
        call: &ToolCallBlock,
        fence: &Fence,
        tally: &mut Tally,
    ) -> Result<ToolResultMessage, TurnError> {
        self.journal.observe(TurnMoment::ToolCalled(call));
        if let Some(limit) = self.progress.spent.count(call, &self.agent.parts.limits) {
            return Err(TurnError::Limit(limit));
        }
        let fenced = self.fenced(call, fence).await;
        if fenced.lines > 0 && tally.lines == 0 {
            self.mark_flushed().await?;
        }
        tally.lines += fenced.lines;
        tally.refused += u32::from(fenced.outcome.is_error);
        let content = self.conversation.capped(&fenced.outcome.content);
        let result = ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: Some(call.name.clone()),
            content: Content::Blocks(content),
            details: fenced.outcome.details,
            is_error: fenced.outcome.is_error,
            timestamp: Some(self.agent.parts.clock.now_ms()),
            extra: Extra::new(),
        };
        let summary = shortened(&result.content.text());
        self.journal.observe(TurnMoment::ToolDone {
            result: &result,
            summary: Some(&summary),
        });
        Ok(result)
    }

    /// Stores the outcome: a mark in the index, and a record that is not a message.
    async fn keep_flush(
        &mut self,
        ending: Ending,
        path: &str,
        tally: &Tally,
    ) -> Result<(), TurnError> {
        if ending == Ending::Stopped {
            return Ok(());
        }
        if tally.lines == 0 {
            self.mark_flushed().await?;
        }
        let data = json!({
            "timestamp": self.agent.parts.clock.now_ms(),
            "path": path,
            "lines": tally.lines,
            "calls": tally.calls,
            "refused": tally.refused,
        });
        self.store(vec![EntryBody::Custom {
            custom_type: compat::MEMORY_FLUSH_RECORD.to_owned(),
            data: Some(data),
        }])
        .await
    }
}
