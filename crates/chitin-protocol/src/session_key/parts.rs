//! What can be read out of a key's rest: thread, conversation, kind of chat.

use super::{KeyGrammar, SessionKey};
use crate::text::trim_js;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const THREAD_MARKER: &str = ":thread:";

/// A key taken apart at its last thread marker (R5).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadSplit {
    /// The key without the thread, letter case kept; none when the key is blank.
    pub base: Option<String>,
    /// The thread, letter case kept; none without a marker or when nothing follows it.
    pub thread_id: Option<String>,
}

/// A group or channel that a key speaks of (R5).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyConversation {
    /// The channel, in lower case.
    pub channel: String,
    /// `group` or `channel`.
    pub kind: ChatType,
    /// The id as spelled, colons included.
    pub raw_id: String,
    /// Everything before the id, as spelled.
    pub prefix: String,
}

/// Who reads along in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChatType {
    /// One other person.
    #[serde(alias = "dm")]
    Direct,
    /// A closed group.
    Group,
    /// A channel.
    Channel,
}

impl ChatType {
    /// Returns the kind as it stands in keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Channel => "channel",
        }
    }

    /// Reads the kind as it stands in keys; `dm` is an older word for `direct`.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "direct" | "dm" => Some(Self::Direct),
            "group" => Some(Self::Group),
            "channel" => Some(Self::Channel),
            _ => None,
        }
    }
}

/// Splits a key at its last thread marker.
pub fn split_thread(text: &str) -> ThreadSplit {
    let text = trim_js(text);
    if text.is_empty() {
        return ThreadSplit {
            base: None,
            thread_id: None,
        };
    }
    let Some(marker) = find_thread_marker(text) else {
        return ThreadSplit {
            base: Some(text.to_owned()),
            thread_id: None,
        };
    };
    let thread_id = trim_js(&text[marker.end..]);
    ThreadSplit {
        base: Some(text[..marker.start].to_owned()),
        thread_id: (!thread_id.is_empty()).then(|| thread_id.to_owned()),
    }
}

/// Finds the last thread marker, letter case ignored.
pub(super) fn find_thread_marker(text: &str) -> Option<Range<usize>> {
    text.as_bytes()
        .windows(THREAD_MARKER.len())
        .rposition(|window| window.eq_ignore_ascii_case(THREAD_MARKER.as_bytes()))
        .map(|start| start..start + THREAD_MARKER.len())
}

/// Returns the group or channel that a key speaks of, with or without an agent before it.
pub fn conversation(text: &str) -> Option<KeyConversation> {
    let segments: Vec<&str> = trim_js(text)
        .split(':')
        .filter(|segment| !segment.is_empty())
        .collect();
    let scoped = segments.len() >= 3 && trim_js(segments[0]).eq_ignore_ascii_case("agent");
    let head = if scoped { 2 } else { 0 };
    let [channel, kind, id @ ..] = segments.get(head..)? else {
        return None;
    };
    let channel = trim_js(channel).to_lowercase();
    let kind = match trim_js(kind).to_lowercase().as_str() {
        "group" => ChatType::Group,
        "channel" => ChatType::Channel,
        _ => return None,
    };
    let joined = id.join(":");
    let raw_id = trim_js(&joined);
    if channel.is_empty() || raw_id.is_empty() {
        return None;
    }
    Some(KeyConversation {
        channel,
        kind,
        raw_id: raw_id.to_owned(),
        prefix: trim_js(&segments[..head + 2].join(":")).to_owned(),
    })
}

/// Returns the kind of chat that a key's spelling gives away (W16).
pub fn chat_type(text: &str) -> Option<ChatType> {
    let text = trim_js(text).to_lowercase();
    let rest = SessionKey::parse(&text, KeyGrammar::Exact).map_or(text, |parsed| parsed.rest);
    let segments: Vec<&str> = rest.split(':').collect();
    let at = |index: usize| segments.get(index).copied().filter(|text| !text.is_empty());
    let kind = |index: usize| at(index).and_then(ChatType::parse);
    match at(0)? {
        // A second agent before the rest is a name of somebody else's making.
        "agent" => return None,
        "direct" | "dm" => return at(1).map(|_| ChatType::Direct),
        _ => {}
    }
    if let (Some(kind), Some(_)) = (kind(1), at(2)) {
        return Some(kind);
    }
    if let (Some(_), Some(kind), Some(_)) = (at(1), kind(2), at(3)) {
        return Some(kind);
    }
    legacy_chat_type(&segments)
}

/// Spellings of earlier releases.
fn legacy_chat_type(segments: &[&str]) -> Option<ChatType> {
    let named = |text: &str, prefix: &str| {
        text.strip_prefix(prefix)
            .is_some_and(|name| !name.is_empty())
    };
    let whatsapp_group = |text: &str| text.strip_suffix("@g.us").is_some_and(|id| !id.is_empty());
    match segments {
        ["group", id, ..] if !id.is_empty() => Some(ChatType::Group),
        ["channel", id, ..] if !id.is_empty() => Some(ChatType::Channel),
        [id] | ["whatsapp", id] if whatsapp_group(id) => Some(ChatType::Group),
        ["discord", guild, channel] if named(guild, "guild-") && named(channel, "channel-") => {
            Some(ChatType::Channel)
        }
        ["discord", account, guild, channel]
            if !account.is_empty() && named(guild, "guild-") && named(channel, "channel-") =>
        {
            Some(ChatType::Channel)
        }
        _ => None,
    }
}
