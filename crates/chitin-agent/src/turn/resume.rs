//! Resuming: what the transcript already holds of a turn with the same key.
//!
//! A caller that asks again after a crash gets the end of the turn, or the rest of it, and not a second turn.

use crate::compat;
use chitin_protocol::message::{
    AssistantMessage, Content, Extra, Message, StopReason, ToolResultMessage,
};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

/// The result of a call of which it is unknown whether it happened.
const UNKNOWN: &str = "The program stopped while this call ran. It may have happened, wholly or in part, or not at all: look before you repeat it.";

/// What the transcript holds of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Resumed {
    /// The model's replies.
    pub(crate) said: Vec<AssistantMessage>,
    /// Results for the calls without one.
    pub(crate) missing: Vec<ToolResultMessage>,
    /// Whether another turn took the message, so that it was answered there.
    pub(crate) elsewhere: bool,
}

impl Resumed {
    /// Finds a turn by its key. An unfinished one is only found if nothing follows it: otherwise it cannot be
    /// continued, and begins again.
    pub(crate) fn find(entries: &[TranscriptEntry], key: &str, now_ms: i64) -> Option<Self> {
        let begins = entries
            .iter()
            .rposition(|entry| field(entry, compat::IDEMPOTENCY_KEY) == Some(key))?;
        if field(&entries[begins], compat::STEERED_INTO).is_some() {
            return Some(Self {
                elsewhere: true,
                ..Self::default()
            });
        }
        let mut earlier = Self::default();
        for entry in &entries[begins + 1..] {
            match &entry.body {
                EntryBody::Message(Message::Assistant(message)) => {
                    let calls = message.tool_calls();
                    earlier.missing.extend(calls.map(|call| ToolResultMessage {
                        tool_call_id: call.id.clone(),
                        tool_name: Some(call.name.clone()),
                        content: Content::Text(UNKNOWN.to_owned()),
                        details: None,
                        is_error: true,
                        timestamp: Some(now_ms),
                        extra: Extra::new(),
                    }));
                    earlier.said.push(message.clone());
                }
                EntryBody::Message(Message::ToolResult(result)) => {
                    // Only one: some servers give several calls the same id.
                    let missing = &mut earlier.missing;
                    let is_of = |one: &ToolResultMessage| one.tool_call_id == result.tool_call_id;
                    if let Some(at) = missing.iter().position(is_of) {
                        missing.remove(at);
                    }
                }
                // Messages that the turn took while it ran are part of it.
                EntryBody::Message(Message::User(_))
                    if field(entry, compat::STEERED_INTO) == Some(key) => {}
                // The next turn begins here.
                EntryBody::Message(Message::User(_)) => {
                    return earlier.is_done().then_some(earlier);
                }
                _ => {}
            }
        }
        Some(earlier)
    }

    /// Tells whether nothing is left to do. A failed turn is repeated.
    pub(crate) fn is_done(&self) -> bool {
        self.elsewhere
            || (self.missing.is_empty()
                && self.said.last().is_some_and(|last| match last.stop_reason {
                    Some(StopReason::ToolUse) => last.tool_calls().next().is_none(),
                    Some(StopReason::Error) => false,
                    _ => true,
                }))
    }
}

/// Returns a field of a user message.
fn field<'a>(entry: &'a TranscriptEntry, name: &str) -> Option<&'a str> {
    match &entry.body {
        EntryBody::Message(Message::User(message)) => message.extra.get(name)?.as_str(),
        _ => None,
    }
}
