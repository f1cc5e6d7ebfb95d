//! Where the texts of a conversation come from: stored with its records, and read from them.
//!
//! All records of a session count, those that are not sent any more too: what the model wrote after it had read them is still there.

use crate::compat;
use chitin_contract::CANONICAL;
use chitin_protocol::message::{Block, Extra, Message, ToolResultMessage, UserMessage};
use chitin_protocol::origin::{FileOrigin, Origin, add_origins};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_tools::policy::normalize_name;
use chitin_tools::untrusted::FileOrigins;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How the gateway labels what others than the owner wrote.
const GUEST_LABEL: &str = "· not the owner]\n";
/// Begins what others said in a room, in a thread or in a file.
const OTHERS_MARKER: &str = "<<<BEGIN_UNTRUSTED_";
/// What stands between the names of an MCP server and its tool.
const SERVER_AND_TOOL: &str = "__";
/// What pictures are called: they have no name.
const PICTURE: &str = "a picture";

/// Returns the untrusted origins of records.
pub fn origins_of<'e>(entries: impl IntoIterator<Item = &'e TranscriptEntry>) -> Vec<Origin> {
    let mut found = Vec::new();
    for entry in entries {
        add_origins(&mut found, &of_entry(entry));
    }
    found
}

fn of_entry(entry: &TranscriptEntry) -> Vec<Origin> {
    match &entry.body {
        EntryBody::Message(Message::User(message)) => {
            stored(&message.extra).unwrap_or_else(|| derived_from_words(message))
        }
        EntryBody::Message(Message::ToolResult(result)) => {
            stored(&result.extra).unwrap_or_else(|| derived_from_tool(result))
        }
        EntryBody::Compaction(compaction) => stored(&compaction.extra).unwrap_or_default(),
        EntryBody::Custom {
            custom_type,
            data: Some(Value::Object(data)),
        } if custom_type == compat::ORIGINS => stored(data).unwrap_or_default(),
        EntryBody::Message(Message::Assistant(_) | Message::Other(_))
        | EntryBody::ModelChange { .. }
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Other(_) => Vec::new(),
    }
}

/// Stores origins with a record. None of them are stored as such: they are not derived then.
pub(crate) fn store(extra: &mut Extra, origins: &[Origin]) {
    extra.insert(compat::ORIGINS.to_owned(), json!(origins));
}

/// Returns what a record says of its origins; nothing if it says nothing. What cannot be read is not trusted.
fn stored(extra: &Extra) -> Option<Vec<Origin>> {
    let Value::Array(stored) = extra.get(compat::ORIGINS)? else {
        return Some(vec![Origin::guest("somebody")]);
    };
    let read = |value: &Value| {
        serde_json::from_value(value.clone()).unwrap_or_else(|_| Origin::guest("somebody"))
    };
    Some(stored.iter().map(read).collect())
}

/// Tells of a message that an older version stored.
fn derived_from_words(message: &UserMessage) -> Vec<Origin> {
    let mut origins = of_pictures(message.content.blocks());
    let text = message.content.text();
    if text.contains(GUEST_LABEL) || text.contains(OTHERS_MARKER) {
        origins.push(Origin::guest("somebody"));
    }
    origins
}

/// Tells of a result that an older version stored.
fn derived_from_tool(result: &ToolResultMessage) -> Vec<Origin> {
    let name = result.tool_name.as_deref().unwrap_or_default();
    of_tool(name).into_iter().collect()
}

/// Returns where the results of a tool come from that its name gives away.
pub(crate) fn of_tool(name: &str) -> Option<Origin> {
    let name = normalize_name(&CANONICAL.runtime.tools, name);
    if name == "web_fetch" {
        return Some(Origin::web("a page"));
    }
    let (server, _) = name.split_once(SERVER_AND_TOOL)?;
    (!server.is_empty()).then(|| Origin::server(server))
}

/// Returns where pictures in a message come from.
pub(crate) fn of_pictures(blocks: &[Block]) -> Vec<Origin> {
    let is_picture = |block: &Block| matches!(block, Block::Image(_));
    let any = blocks.iter().any(is_picture);
    any.then(|| Origin::file(PICTURE, FileOrigin::Received))
        .into_iter()
        .collect()
}

/// Returns the origins of files that are in a context, and of their names.
pub fn of_injected(files: &dyn FileOrigins, workspace: &Path, paths: &[PathBuf]) -> Vec<Origin> {
    let found = paths.iter().filter_map(|path| {
        let named = path.strip_prefix(workspace).unwrap_or(path);
        match files.of(path) {
            Some(why) => Some(Origin::file(&named.to_string_lossy(), why)),
            None => files.name(workspace, &[named.to_path_buf()]),
        }
    });
    found.collect()
}
