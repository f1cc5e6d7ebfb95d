//! The records of a turn: made of what came in and what was answered, put on the disk, then told.

use super::input::message_of;
use super::resume::Earlier;
use super::{Running, Steer, TurnError, TurnInput, event_sink};
use crate::compat;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

impl Running<'_> {
    /// Goes on with a turn that was asked for before; nothing comes back when it is over.
    pub(super) async fn go_on(&mut self, earlier: Earlier) -> Option<Vec<EntryBody>> {
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
    pub(super) async fn heard(&mut self, came: Vec<Steer>, input: &TurnInput) -> Vec<EntryBody> {
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
    pub(super) async fn tell_said(&mut self, answer: &AssistantMessage) {
        let text = answer.content.text();
        let index = self.answers;
        self.answers += 1;
        if !text.trim().is_empty() {
            self.sink.tell(TurnEvent::Said { index, text }).await;
        }
    }

    /// Returns the records that come before the first answer: what changed about the model, and somebody's words.
    pub(super) fn opening(&self, input: &TurnInput) -> Vec<EntryBody> {
        let parts = &self.agent.parts;
        let now_ms = parts.clock.now_ms();
        let mut bodies = self.conversation.model_records(self.candidate(), now_ms);
        bodies.extend(self.conversation.due_files());
        let message = input.message(self.prompt.text.clone(), now_ms);
        bodies.push(EntryBody::Message(message));
        bodies
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
    pub(crate) async fn tell_stored(&self, entries: &[TranscriptEntry]) {
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
