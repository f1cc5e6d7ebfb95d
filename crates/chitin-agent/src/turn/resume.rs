//! A turn that was asked for before, under the same name: what of it the transcript holds already.
//!
//! Whoever asks again after a crash gets the turn's end without a second turn, or the rest of it.

use crate::compat;
use chitin_protocol::message::{
    AssistantMessage, Content, Extra, Message, StopReason, ToolResultMessage,
};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};

/// What the result of a call says when nobody knows whether the call happened.
const UNKNOWN: &str = "The program stopped while this call ran. It may have happened, wholly or in part, or not at all: look before you repeat it.";

/// What the transcript holds of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Earlier {
    /// What the model said in it, answer by answer.
    pub(crate) said: Vec<AssistantMessage>,
    /// Results for calls that have none.
    pub(crate) missing: Vec<ToolResultMessage>,
    /// Whether another turn heard the words, so that what was said to them was said there.
    pub(crate) elsewhere: bool,
}

impl Earlier {
    /// Finds a turn by its name. One that did not get to its end is only found when nothing came after it: otherwise there is
    /// no place to go on from, and it begins again.
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
                    // Only one of them: some servers give several calls one id.
                    let missing = &mut earlier.missing;
                    let is_of = |one: &ToolResultMessage| one.tool_call_id == result.tool_call_id;
                    if let Some(at) = missing.iter().position(is_of) {
                        missing.remove(at);
                    }
                }
                // Words that the turn heard while it ran are part of it.
                EntryBody::Message(Message::User(_))
                    if field(entry, compat::STEERED_INTO) == Some(key) => {}
                // The next turn: what follows is not of this one.
                EntryBody::Message(Message::User(_)) => {
                    return earlier.is_done().then_some(earlier);
                }
                _ => {}
            }
        }
        Some(earlier)
    }

    /// Tells whether nothing is left to do. A turn that failed is tried again.
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

/// Returns a field of somebody's words.
fn field<'a>(entry: &'a TranscriptEntry, name: &str) -> Option<&'a str> {
    match &entry.body {
        EntryBody::Message(Message::User(message)) => message.extra.get(name)?.as_str(),
        _ => None,
    }
}
