//! What a model is told of the tool: the actions that its surface knows, and the fields that they need.

use crate::surface::Capabilities;
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

/// What every surface can do.
pub(super) const SEND: &str = "send";
const BROADCAST: &str = "broadcast";
const REPLY: &str = "reply";
const EDIT: &str = "edit";
const REACT: &str = "react";
const READ: &str = "read";
const THREAD_CREATE: &str = "thread-create";
const THREAD_REPLY: &str = "thread-reply";

/// Actions that the gateway knows; others go to the surface as they are.
pub(super) const KNOWN: [&str; 8] = [
    SEND,
    BROADCAST,
    REPLY,
    EDIT,
    REACT,
    READ,
    THREAD_CREATE,
    THREAD_REPLY,
];

/// A field: its name, its type, what it is for, and the actions that use it; none means all.
type Field = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const FIELDS: [Field; 16] = [
    (
        "channel",
        "string",
        "The surface, when `target` does not name it and it is not the one of this session.",
        &[],
    ),
    (
        "target",
        "string",
        "The place: `channel:ID`, `user:ID`, `group:ID`, each also with `:thread:ID`. Left out, it is where this session speaks.",
        &[],
    ),
    (
        "targets",
        "array",
        "The places of a broadcast.",
        &[BROADCAST],
    ),
    (
        "accountId",
        "string",
        "The account to act as, when there are several.",
        &[],
    ),
    (
        "message",
        "string",
        "The text.",
        &[SEND, BROADCAST, REPLY, EDIT, THREAD_CREATE, THREAD_REPLY],
    ),
    (
        "messageId",
        "string",
        "The message that it is about.",
        &[REPLY, EDIT, REACT, THREAD_CREATE],
    ),
    (
        "replyTo",
        "string",
        "The message that this one replies to.",
        &[SEND, REPLY, THREAD_REPLY],
    ),
    (
        "threadId",
        "string",
        "The thread.",
        &[SEND, READ, REPLY, THREAD_REPLY],
    ),
    (
        "threadName",
        "string",
        "What the thread is called.",
        &[THREAD_CREATE],
    ),
    (
        "autoArchiveMin",
        "integer",
        "After how many minutes of silence the thread is put away.",
        &[THREAD_CREATE],
    ),
    ("emoji", "string", "The sign.", &[REACT]),
    ("remove", "boolean", "Take the sign away.", &[REACT]),
    (
        "limit",
        "integer",
        "How many messages to read, 20 if left out.",
        &[READ],
    ),
    (
        "before",
        "string",
        "Read only what came before this message.",
        &[READ],
    ),
    (
        "silent",
        "boolean",
        "Wake nobody.",
        &[SEND, BROADCAST, REPLY, THREAD_REPLY],
    ),
    ("dryRun", "boolean", "Only say what would be done.", &[]),
];

/// Returns the actions of surfaces, in the order in which the first declares them; `send` stands first.
pub(super) fn actions<'a>(surfaces: impl Iterator<Item = &'a Capabilities>) -> Vec<String> {
    let mut actions = vec![SEND.to_owned()];
    for action in surfaces.flat_map(|surface| &surface.actions) {
        if !actions.contains(action) {
            actions.push(action.clone());
        }
    }
    actions
}

/// Describes the tool for a list of actions.
pub(super) fn spec(actions: &[String]) -> ToolSpec {
    let mut properties = Map::new();
    properties.insert(
        "action".to_owned(),
        json!({"type": "string", "enum": actions, "description": "What to do."}),
    );
    for (name, kind, description, used_by) in FIELDS {
        let used = used_by.is_empty() || used_by.iter().any(|by| actions.iter().any(|a| a == by));
        if !used {
            continue;
        }
        let mut field = json!({"type": kind, "description": description});
        if kind == "array" {
            field["items"] = json!({"type": "string"});
        }
        properties.insert(name.to_owned(), field);
    }
    // What only this network knows has fields of its own.
    let open = actions
        .iter()
        .any(|action| !KNOWN.contains(&action.as_str()));
    ToolSpec {
        name: super::NAME.to_owned(),
        description: "Sends messages and does what else the surface knows. Your answer goes to where this session speaks by \
            itself; use this for other places, and for reactions, edits, reading and threads."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": Value::Object(properties),
            "required": ["action"],
            "additionalProperties": open,
        }),
    }
}
