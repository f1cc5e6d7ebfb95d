//! Messages and records as the rules see them, odd ones included.

use crate::compat;
use chitin_contract::TextWeight;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Message, StopReason, TextBlock, ToolResultMessage,
};
use chitin_protocol::text::{utf16_len, utf16_prefix, utf16_suffix};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Returns the message that a record holds for the model. A summary of what came before is not one: see [`summary_of`].
pub(super) fn message_of(entry: &TranscriptEntry) -> Option<Cow<'_, Message>> {
    match &entry.body {
        EntryBody::Message(message) => Some(Cow::Borrowed(message)),
        EntryBody::Other(value) => note_of(value).map(Cow::Owned),
        EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Compaction(_) => None,
    }
}

/// Returns the summary of what came before, as a message of its own role.
pub(super) fn summary_of(entry: &TranscriptEntry) -> Option<Message> {
    match &entry.body {
        EntryBody::Compaction(compaction) => Some(Message::Other(json!({
            "role": compat::role::COMPACTION_SUMMARY,
            "summary": compaction.summary,
            "tokensBefore": compaction.tokens_before,
        }))),
        EntryBody::Message(_)
        | EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Other(_) => None,
    }
}

fn note_of(value: &Value) -> Option<Message> {
    let kind = value.get("type").and_then(Value::as_str)?;
    let message = match kind {
        compat::record::CUSTOM_MESSAGE => json!({
            "role": compat::role::CUSTOM,
            "customType": value.get("customType"),
            "content": value.get("content"),
            "details": value.get("details"),
        }),
        compat::record::BRANCH_SUMMARY => json!({
            "role": compat::role::BRANCH_SUMMARY,
            "summary": value.get("summary"),
        }),
        _ => return None,
    };
    Some(Message::Other(message))
}

/// Returns a text field of a message of a role that we do not know.
pub(super) fn text_field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what a message says, also that of a note to the model.
pub(super) fn content_of(message: &Message) -> Option<Cow<'_, Content>> {
    match message {
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => {
            message.content().map(Cow::Borrowed)
        }
        Message::Other(value) => serde_json::from_value(value.get("content")?.clone())
            .ok()
            .map(Cow::Owned),
    }
}

/// Tells whether an answer ended in an error or was stopped.
pub(super) const fn failed(answer: &AssistantMessage) -> bool {
    matches!(
        answer.stop_reason,
        Some(StopReason::Error | StopReason::Aborted)
    )
}

/// The types of blocks by which programs call tools; the first three carry an id that pairs them with results.
const CALL_TYPES: [&str; 6] = [
    "toolCall",
    "toolUse",
    "functionCall",
    "tool_call",
    "tool_use",
    "function_call",
];
const PAIRED_CALL_TYPES: usize = 3;

/// A call of a tool, however it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) has_input: bool,
}

/// Returns the call that a block makes, if it is of one of `types`.
fn call<'a>(block: &'a Block, types: &[&str]) -> Option<Call<'a>> {
    match block {
        Block::ToolCall(call) => Some(Call {
            id: &call.id,
            name: Some(&call.name),
            has_input: call
                .arguments
                .as_ref()
                .is_some_and(|value| !value.is_null())
                || call
                    .extra
                    .get("input")
                    .is_some_and(|value| !value.is_null()),
        }),
        Block::Other(value) => {
            let kind = value.get("type").and_then(Value::as_str)?;
            types.contains(&kind).then(|| Call {
                id: text_field(value, "id"),
                name: value.get("name").and_then(Value::as_str),
                has_input: ["arguments", "input"]
                    .iter()
                    .any(|name| value.get(name).is_some_and(|value| !value.is_null())),
            })
        }
        Block::Text(_) | Block::Thinking(_) | Block::Image(_) => None,
    }
}

/// Returns the call that a block makes, in any spelling.
pub(super) fn any_call(block: &Block) -> Option<Call<'_>> {
    call(block, &CALL_TYPES)
}

/// Returns the calls of an answer that want a result: those that have an id.
pub(super) fn paired_calls(answer: &AssistantMessage) -> impl Iterator<Item = Call<'_>> {
    answer
        .content
        .blocks()
        .iter()
        .filter_map(|block| call(block, &CALL_TYPES[..PAIRED_CALL_TYPES]))
        .filter(|call| !call.id.is_empty())
}

/// Returns the id of the call that a result answers.
pub(super) fn result_id(result: &ToolResultMessage) -> Option<&str> {
    let spelled = [
        "toolUseId",
        "tool_call_id",
        "tool_use_id",
        "callId",
        "call_id",
    ];
    let others = spelled
        .iter()
        .filter_map(|name| result.extra.get(*name).and_then(Value::as_str));
    std::iter::once(result.tool_call_id.as_str())
        .chain(others)
        .find(|id| !id.is_empty())
}

/// Tells whether a block is a picture, also one that lacks fields.
pub(super) fn is_image(block: &Block) -> bool {
    match block {
        Block::Image(_) => true,
        Block::Other(value) => value.get("type").and_then(Value::as_str) == Some("image"),
        Block::Text(_) | Block::Thinking(_) | Block::ToolCall(_) => false,
    }
}

/// Returns the type of a block as it is written.
pub(super) fn block_type(block: &Block) -> &str {
    match block {
        Block::Text(_) => "text",
        Block::Thinking(_) => "thinking",
        Block::Image(_) => "image",
        Block::ToolCall(_) => "toolCall",
        Block::Other(value) => text_field(value, "type"),
    }
}

/// Makes content of one text.
pub(super) fn only_text(text: impl Into<String>) -> Content {
    Content::Blocks(vec![Block::Text(TextBlock {
        text: text.into(),
        ..TextBlock::default()
    })])
}

/// Returns a value as compact JSON.
pub(super) fn compact(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Tells whether a character weighs a token by itself.
const fn is_wide(c: char) -> bool {
    matches!(
        c,
        '\u{2e80}'..='\u{9fff}'
            | '\u{a000}'..='\u{a4ff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff01}'..='\u{ff60}'
            | '\u{ffe0}'..='\u{ffe6}'
            | '\u{20000}'..='\u{2fa1f}'
    )
}

const WIDE_WEIGHT: usize = 4;

const fn weight_of(c: char) -> usize {
    if is_wide(c) {
        WIDE_WEIGHT
    } else {
        c.len_utf16()
    }
}

/// Returns what a text weighs.
pub(super) fn weight(text: &str, by: TextWeight) -> usize {
    match by {
        TextWeight::Units => utf16_len(text),
        TextWeight::WideCharacters if text.is_ascii() => text.len(),
        TextWeight::WideCharacters => text.chars().map(weight_of).sum(),
    }
}

/// Returns the longest beginning that weighs at most `limit`.
pub(super) fn prefix(text: &str, limit: usize, by: TextWeight) -> &str {
    if by == TextWeight::Units || text.is_ascii() {
        return utf16_prefix(text, limit);
    }
    let mut left = limit;
    for (at, c) in text.char_indices() {
        match left.checked_sub(weight_of(c)) {
            Some(rest) => left = rest,
            None => return &text[..at],
        }
    }
    text
}

/// Returns the longest end that weighs at most `limit`.
pub(super) fn suffix(text: &str, limit: usize, by: TextWeight) -> &str {
    if by == TextWeight::Units || text.is_ascii() {
        return utf16_suffix(text, limit);
    }
    let mut left = limit;
    for (at, c) in text.char_indices().rev() {
        match left.checked_sub(weight_of(c)) {
            Some(rest) => left = rest,
            None => return &text[at + c.len_utf8()..],
        }
    }
    text
}
