//! Events of a bundle: those of the trajectory, and those that the transcript gives (R117).

use super::super::compat::{self, event};
use super::BundleInput;
use chitin_protocol::message::{Block, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use serde_json::{Map, Value, json};

/// Returns all events by time; of two at one time, that of the trajectory comes first.
pub(super) fn merged(input: &BundleInput<'_>) -> Vec<Value> {
    let runtime = input.events.iter().map(|event| event.value.clone());
    let mut all: Vec<(bool, Value)> = runtime.map(|event| (false, event)).collect();
    all.extend(
        from_transcript(input)
            .into_iter()
            .map(|event| (true, event)),
    );
    // The sort keeps the order of what is equal: within a source, the order of the file.
    all.sort_by(|(one_from, one), (other_from, other)| {
        let time = |event: &Value| event["ts"].as_str().unwrap_or_default().to_owned();
        (time(one), one_from).cmp(&(time(other), other_from))
    });
    let mut merged: Vec<Value> = all.into_iter().map(|(_, event)| event).collect();
    for (at, event) in merged.iter_mut().enumerate() {
        event["seq"] = json!(at + 1);
    }
    merged
}

fn from_transcript(input: &BundleInput<'_>) -> Vec<Value> {
    let entries = input.transcript.map_or(&[][..], |one| &one.branch);
    let mut events = Vec::new();
    for entry in entries {
        let mut push = |kind: String, data: Value| {
            let number = events.len() + 1;
            events.push(json!({
                "traceSchema": compat::TRACE_SCHEMA,
                "schemaVersion": compat::SCHEMA_VERSION,
                "traceId": input.session_id,
                "source": "transcript",
                "type": kind,
                "ts": time(&entry.timestamp),
                "seq": 0,
                "sourceSeq": number,
                "sessionId": input.session_id,
                "sessionKey": input.session_key,
                "workspaceDir": input.workspace.to_string_lossy(),
                "entryId": entry.id,
                "parentEntryId": entry.parent_id,
                "data": data,
            }));
        };
        match &entry.body {
            EntryBody::Message(message) => {
                push(message_kind(message), json!({ "message": message }));
                for call in tool_calls(message, &entry.id) {
                    push(event::TOOL_CALL.to_owned(), call);
                }
            }
            body => push(kind(body), fields(entry)),
        }
    }
    events
}

/// Writes every time in one way, so that they can be compared as text.
fn time(timestamp: &str) -> String {
    timestamp
        .parse::<jiff::Timestamp>()
        .map_or_else(|_| timestamp.to_owned(), |time| format!("{time:.3}"))
}

fn message_kind(message: &Message) -> String {
    match message {
        Message::User(_) => "user.message".to_owned(),
        Message::Assistant(_) => "assistant.message".to_owned(),
        Message::ToolResult(_) => event::TOOL_RESULT.to_owned(),
        Message::Other(_) => format!("message.{}", message.role()),
    }
}

fn kind(body: &EntryBody) -> String {
    match body.kind() {
        "session_info" => "session.info".to_owned(),
        kind => format!("session.{kind}"),
    }
}

/// What a record says besides where it stands.
fn fields(entry: &TranscriptEntry) -> Value {
    let mut fields = match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    };
    for known in ["type", "id", "parentId", "timestamp"] {
        fields.shift_remove(known);
    }
    Value::Object(fields)
}

fn tool_calls(message: &Message, entry: &str) -> Vec<Value> {
    let Message::Assistant(message) = message else {
        return Vec::new();
    };
    let blocks = message.content.blocks().iter().enumerate();
    blocks
        .filter_map(|(at, block)| match block {
            Block::ToolCall(call) => Some(json!({
                "toolCallId": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "assistantEntryId": entry,
                "blockIndex": at,
            })),
            Block::Text(_) | Block::Thinking(_) | Block::Image(_) | Block::Other(_) => None,
        })
        .collect()
}
