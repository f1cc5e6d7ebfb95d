//! What a model is told of the tool: the actions that its surface knows, and the fields that they need.

use crate::surface::SurfaceCapabilities;
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value, json};

/// What every surface can do.
pub(super) const SEND: &str = "send";
pub(super) const BROADCAST: &str = "broadcast";
pub(super) const REPLY: &str = "reply";
pub(super) const EDIT: &str = "edit";
pub(super) const REACT: &str = "react";
pub(super) const READ: &str = "read";
pub(super) const THREAD_CREATE: &str = "thread-create";
pub(super) const THREAD_REPLY: &str = "thread-reply";
/// What every surface can do that takes files.
pub(super) const UPLOAD: &str = "upload-file";
pub(super) const SEND_ATTACHMENT: &str = "sendAttachment";
pub(super) const DOWNLOAD: &str = "download-file";
const DELETE: &str = "delete";
const PIN: &str = "pin";
const UNPIN: &str = "unpin";
const LIST_PINS: &str = "list-pins";
const REACTIONS: &str = "reactions";
const SEARCH: &str = "search";
const THREAD_LIST: &str = "thread-list";
const MEMBER_INFO: &str = "member-info";

/// Actions that the gateway knows; others go to the surface as they are.
pub(super) const KNOWN: [&str; 11] = [
    SEND,
    BROADCAST,
    REPLY,
    EDIT,
    REACT,
    READ,
    THREAD_CREATE,
    THREAD_REPLY,
    UPLOAD,
    SEND_ATTACHMENT,
    DOWNLOAD,
];

/// Actions that only look, and tell nobody anything.
pub(super) const LOOKING: [&str; 7] = [
    READ,
    DOWNLOAD,
    LIST_PINS,
    REACTIONS,
    SEARCH,
    THREAD_LIST,
    MEMBER_INFO,
];

/// Actions that only speak.
pub(super) const SPEAKING: [&str; 6] = [SEND, REPLY, THREAD_REPLY, REACT, UPLOAD, SEND_ATTACHMENT];

/// Returns the fields that an action cannot do without, of those that go to the surface as they are.
pub(super) fn needs(action: &str) -> &'static [&'static str] {
    match action {
        DELETE | PIN | UNPIN | REACTIONS => &["messageId"],
        SEARCH => &["query"],
        MEMBER_INFO => &["userId"],
        _ => &[],
    }
}

/// A field: its name, its type, what it is for, and the actions that use it; none means all.
type Field = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const FIELDS: [Field; 26] = [
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
        "media",
        "string",
        "A file of the workspace that goes with it.",
        &[UPLOAD, SEND_ATTACHMENT],
    ),
    (
        "attachments",
        "attachments",
        "Several files of the workspace that go with it.",
        &[UPLOAD, SEND_ATTACHMENT],
    ),
    (
        "buffer",
        "string",
        "What is in a file that goes with it, in base 64, in place of `media`.",
        &[UPLOAD, SEND_ATTACHMENT],
    ),
    (
        "filename",
        "string",
        "What the file is called.",
        &[UPLOAD, SEND_ATTACHMENT],
    ),
    (
        "contentType",
        "string",
        "The MIME type of the file.",
        &[UPLOAD, SEND_ATTACHMENT],
    ),
    (
        "file",
        "string",
        "Which file of the message, by name or number, when there are several.",
        &[DOWNLOAD],
    ),
    (
        "path",
        "string",
        "Where in the workspace the file is put; left out, in `inbox/` under its own name.",
        &[DOWNLOAD],
    ),
    (
        "overwrite",
        "boolean",
        "Replace a file that is there.",
        &[DOWNLOAD],
    ),
    ("query", "string", "What to look for.", &[SEARCH]),
    ("userId", "string", "The person.", &[MEMBER_INFO]),
    (
        "messageId",
        "string",
        "The message that it is about.",
        &[
            REPLY,
            EDIT,
            REACT,
            THREAD_CREATE,
            DOWNLOAD,
            DELETE,
            PIN,
            UNPIN,
            REACTIONS,
        ],
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
        "How many to show at most, 20 if left out.",
        &[READ, SEARCH, THREAD_LIST, LIST_PINS, REACTIONS],
    ),
    (
        "before",
        "string",
        "Show only what came before this one.",
        &[READ, THREAD_LIST],
    ),
    (
        "silent",
        "boolean",
        "Wake nobody.",
        &[SEND, BROADCAST, REPLY, THREAD_REPLY],
    ),
    ("dryRun", "boolean", "Only say what would be done.", &[]),
];

/// Returns the actions of surfaces, in the order in which the first declares them; `send` stands first. One that takes files can be
/// sent some.
pub(super) fn actions<'a>(surfaces: impl Iterator<Item = &'a SurfaceCapabilities>) -> Vec<String> {
    let mut actions = vec![SEND.to_owned()];
    let mut add = |action: &str| {
        if !actions.iter().any(|known| known == action) {
            actions.push(action.to_owned());
        }
    };
    for surface in surfaces {
        surface.actions.iter().for_each(|action| add(action));
        if surface.files.is_some() {
            add(UPLOAD);
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
        match kind {
            "array" => field["items"] = json!({"type": "string"}),
            "attachments" => {
                field["type"] = json!("array");
                field["items"] = json!({
                    "type": "object",
                    "properties": {"media": {"type": "string"}},
                    "required": ["media"],
                });
            }
            _ => {}
        }
        properties.insert(name.to_owned(), field);
    }
    // What only this network knows has fields of its own.
    let open = actions
        .iter()
        .any(|action| !KNOWN.contains(&action.as_str()));
    ToolSpec {
        name: crate::delivery::message_tool::NAME.to_owned(),
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
