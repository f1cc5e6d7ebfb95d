//! The records of a turn: made from messages and replies, stored, then reported.

use super::input::message_of;
use super::resume::Resumed;
use super::{Running, Steer, TurnError, TurnInput, event_sink};
use crate::compat;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

impl Running<'_> {
    /// Continues a turn that began earlier; returns nothing if it is already over.
    pub(super) async fn resume(&mut self, earlier: Resumed) -> Option<Vec<EntryBody>> {
        for answer in &earlier.said {
            self.report_reply(answer).await;
        }
        if earlier.is_done() {
            self.progress.last_reply = earlier.said.into_iter().next_back();
            return None;
        }
        let now_ms = self.agent.parts.clock.now_ms();
        let results = earlier.missing.into_iter().map(Message::ToolResult);
        let mut bodies: Vec<EntryBody> = results.map(EntryBody::Message).collect();
        bodies.extend(self.conversation.model_records(self.candidate(), now_ms));
        Some(bodies)
    }

    /// Makes records of messages that arrived during the turn. They name the turn that took them.
    pub(super) async fn steered(&mut self, came: Vec<Steer>, input: &TurnInput) -> Vec<EntryBody> {
        let now_ms = self.agent.parts.clock.now_ms();
        let mut bodies = Vec::new();
        for steer in came {
            if let Some(record) = self.judge_steered(&steer, input).await {
                bodies.push(record);
                continue;
            }
            self.sink
                .tell(TurnEvent::Steered {
                    key: steer.key.clone(),
                })
                .await;
            let mut message = message_of(steer, &input.origin, now_ms);
            if let (Message::User(message), Some(turn)) = (&mut message, input.key.as_deref()) {
                let extra = &mut message.extra;
                extra.insert(compat::STEERED_INTO.to_owned(), turn.into());
            }
            bodies.push(EntryBody::Message(message));
        }
        bodies
    }

    /// Reports a reply that is on disk.
    pub(super) async fn report_reply(&mut self, answer: &AssistantMessage) {
        let text = answer.content.text();
        let index = self.progress.replies;
        self.progress.replies += 1;
        if !text.trim().is_empty() {
            self.sink.tell(TurnEvent::Said { index, text }).await;
        }
    }

    /// Returns the records before the first reply: a change of model, workspace files, and the message.
    pub(super) fn opening(&self, input: &TurnInput) -> Vec<EntryBody> {
        let parts = &self.agent.parts;
        let now_ms = parts.clock.now_ms();
        let mut bodies = self.conversation.model_records(self.candidate(), now_ms);
        bodies.extend(self.conversation.due_files());
        let message = input.message(self.request.message.text.clone(), now_ms);
        bodies.push(EntryBody::Message(message));
        bodies
    }

    /// Stores records, adds them to the conversation, then reports them.
    pub(crate) async fn store(&mut self, bodies: Vec<EntryBody>) -> Result<(), TurnError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let now = self.agent.parts.clock.now();
        let entries = self.records.session.append(bodies, now).await?;
        self.conversation.push(&entries);
        // Earlier records have reached the disk with these.
        let before = std::mem::take(&mut self.records.unreported);
        self.report_stored(&before).await;
        self.report_stored(&entries).await;
        Ok(())
    }

    /// Reports records that are on disk.
    pub(crate) async fn report_stored(&self, entries: &[TranscriptEntry]) {
        for entry in entries {
            self.sink
                .tell(TurnEvent::Stored {
                    entry_id: entry.id.clone(),
                    kind: event_sink::kind_of(entry),
                })
                .await;
        }
    }
}
