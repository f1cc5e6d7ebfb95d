//! Conversations of every kind, damaged ones included, for property tests.

use chitin_contract::HistoryRules;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::TranscriptEntry;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every set of rules.
pub(crate) const RULES: [HistoryRules; 3] = [
    HistoryRules::CANONICAL,
    HistoryRules::OPENCLAW_2026_4,
    HistoryRules::OPENCLAW_2026_9,
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-z \n]{0,40}",
        1 => "[語😀é{}\n]{0,30}",
        1 => (0usize..1500, "[a-z\n语😀]").prop_map(|(times, unit)| unit.repeat(times)),
        1 => Just(String::new()),
    ]
}

/// Few ids, so that they collide; some are blank.
fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => "[ab]".prop_map(Value::from),
        2 => "[a-f][0-9]".prop_map(Value::from),
        1 => Just(json!(" ")),
        1 => Just(json!("")),
        1 => Just(json!(7)),
        1 => Just(Value::Null),
    ]
}

fn name() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => Just(json!("read")),
        2 => Just(json!("exec")),
        1 => Just(json!(" edit ")),
        1 => Just(json!("")),
        1 => Just(json!("bad name")),
        1 => Just(Value::Null),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(|text| json!({ "type": "text", "text": text })),
        1 => text().prop_map(|text| json!({ "type": "thinking", "thinking": text, "thinkingSignature": "s" })),
        1 => Just(json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" })),
        1 => Just(json!({ "type": "image" })),
        4 => (id(), name(), text(), any::<bool>()).prop_map(|(id, name, path, given)| {
            let mut call = json!({ "type": "toolCall", "id": id, "name": name });
            if given {
                call["arguments"] = json!({ "path": path });
            }
            call
        }),
        1 => (id(), name()).prop_map(|(id, name)| json!({ "type": "toolUse", "id": id, "name": name, "input": {} })),
        1 => Just(json!({ "type": "redacted_thinking", "data": "x" })),
        1 => Just(json!({ "odd": [1, 2] })),
        1 => Just(json!(5)),
        1 => Just(json!("bare")),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => text().prop_map(Value::from),
        6 => prop::collection::vec(block(), 0..4).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!({ "not": "content" })),
    ]
}

/// A message of any kind, whole or damaged.
pub(crate) fn message() -> impl Strategy<Value = Message> {
    let stop = prop_oneof![
        4 => Just("toolUse"),
        2 => Just("stop"),
        1 => Just("error"),
        1 => Just("aborted"),
        1 => Just("odd"),
    ];
    let value = prop_oneof![
        4 => content().prop_map(|content| json!({ "role": "user", "content": content })),
        6 => (content(), stop, 0u64..200_000).prop_map(|(content, stop, total)| json!({
            "role": "assistant", "content": content, "stopReason": stop, "usage": { "totalTokens": total },
        })),
        6 => (content(), id(), name(), any::<bool>()).prop_map(|(content, id, name, failed)| json!({
            "role": "toolResult", "toolCallId": id, "toolName": name, "content": content, "isError": failed,
            "details": { "exitCode": 2, "status": "failed" },
        })),
        1 => content().prop_map(|content| json!({ "role": "custom", "customType": "x", "content": content })),
        1 => text().prop_map(|text| json!({ "role": "bashExecution", "command": "ls", "output": text })),
        1 => text().prop_map(|text| json!({ "role": "branchSummary", "summary": text })),
        1 => text().prop_map(|text| json!({ "role": "compactionSummary", "summary": text })),
        1 => Just(json!({ "role": "elsewhere", "anything": true })),
        1 => Just(json!({ "role": "user" })),
    ];
    value.prop_map(|value| serde_json::from_value(value).unwrap())
}

/// A conversation of any kind.
pub(crate) fn messages() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec(message(), 0..14)
}

/// A branch of any kind: messages with other records between them, compactions that name records which may be missing.
pub(crate) fn branch() -> impl Strategy<Value = Vec<TranscriptEntry>> {
    let record = prop_oneof![
        12 => message().prop_map(|message| json!({ "type": "message", "message": message })),
        1 => Just(json!({ "type": "model_change", "provider": "p", "modelId": "m" })),
        1 => Just(json!({ "type": "thinking_level_change", "thinkingLevel": "low" })),
        1 => Just(json!({ "type": "custom", "customType": "note", "data": { "a": 1 } })),
        1 => content().prop_map(|content| json!({ "type": "custom_message", "customType": "x", "content": content })),
        1 => text().prop_map(|text| json!({ "type": "branch_summary", "summary": text })),
        1 => (text(), 0usize..16).prop_map(|(summary, kept)| json!({
            "type": "compaction", "summary": summary, "firstKeptEntryId": format!("e{kept:02}"), "tokensBefore": 9,
            "details": { "readFiles": ["a", 5], "modifiedFiles": "no list" },
        })),
        1 => Just(json!({ "type": "label", "label": "x" })),
    ];
    prop::collection::vec(record, 0..16).prop_map(|records| {
        let numbered = records.into_iter().enumerate().map(|(at, mut record)| {
            record["id"] = json!(format!("e{at:02}"));
            record["timestamp"] = json!("2026-04-01T00:00:00.000Z");
            serde_json::from_value(record).unwrap()
        });
        numbered.collect()
    })
}

/// Makes a record of a message.
pub(crate) fn record(id: usize, message: &Value) -> TranscriptEntry {
    serde_json::from_value(json!({
        "type": "message",
        "id": format!("r{id:03}"),
        "parentId": null,
        "timestamp": "2026-04-01T00:00:00.000Z",
        "message": message,
    }))
    .unwrap()
}

/// Makes the records of a whole turn: the user asks, the model calls a tool, the tool answers, the model answers.
pub(crate) fn turn(number: usize, said: &str, result: &str) -> Vec<TranscriptEntry> {
    let call = format!("call-{number}");
    let first = number * 4;
    vec![
        record(
            first,
            &json!({ "role": "user", "content": [
                { "type": "text", "text": format!("ask {number}: {said}") },
                { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            ] }),
        ),
        record(
            first + 1,
            &json!({ "role": "assistant", "stopReason": "toolUse", "content": [
                { "type": "toolCall", "id": call, "name": "read", "arguments": { "path": format!("file-{number}.txt") } },
            ] }),
        ),
        record(
            first + 2,
            &json!({ "role": "toolResult", "toolCallId": call, "toolName": "read", "isError": false,
                "timestamp": number, "content": [{ "type": "text", "text": result }] }),
        ),
        record(
            first + 3,
            &json!({ "role": "assistant", "stopReason": "stop", "content": [
                { "type": "text", "text": format!("answer {number}") },
            ] }),
        ),
    ]
}
