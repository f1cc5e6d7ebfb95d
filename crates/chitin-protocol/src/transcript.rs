//! Records of a transcript: a tree of JSON lines (R21–R23).

mod json;
mod line;

pub use line::{LineProblem, is_json};

use crate::message::{Extra, Message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Always `session`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The version of the format; the oldest files do not say.
    #[serde(default = "first_version")]
    pub version: u32,
    /// The session's id.
    pub id: String,
    /// When the session began, as an ISO instant.
    pub timestamp: String,
    /// The workspace.
    #[serde(default)]
    pub cwd: String,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

const fn first_version() -> u32 {
    1
}

/// Any line of a transcript but the first. Reading and writing is lossless.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub struct TranscriptEntry {
    /// The record's own name, unique in its file.
    pub id: String,
    /// The record before it on its branch; the first has none.
    pub parent_id: Option<String>,
    /// When, as an ISO instant.
    pub timestamp: String,
    /// What it says.
    #[schemars(flatten)]
    pub body: EntryBody,
    /// What else the record says, beside its body, and fields that it had in a form that we would not write.
    #[schemars(skip)]
    pub extra: Extra,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(untagged, rename_all_fields = "camelCase")]
pub enum EntryBody {
    /// A message.
    Message(#[schemars(with = "MessageRecord")] Message),
    /// Another model answers from here on.
    ModelChange {
        /// The provider.
        provider: String,
        /// The model.
        model_id: String,
    },
    /// Another depth of thought from here on.
    ThinkingLevelChange {
        /// Such as `off` or `high`.
        thinking_level: String,
    },
    /// What a program notes for itself; the model does not see it.
    Custom {
        /// What kind of note.
        custom_type: String,
        /// The note.
        data: Option<Value>,
    },
    /// What came before was put into a summary.
    Compaction(Compaction),
    /// A kind that we do not know or need not understand; it carries its own `type`, and all its fields.
    Other(Value),
}

/// The shape of a message's record, for the schema: what a record says stands beside its name and time, but a message is nested.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the schema is made of it")]
struct MessageRecord {
    message: Message,
}

/// What came before was put into a summary (C33).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The summary.
    pub summary: String,
    /// The first record that is still shown to the model.
    pub first_kept_entry_id: String,
    /// How many tokens there were before.
    pub tokens_before: u64,
    /// Files that were read and changed, and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether somebody else than us made the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_hook: Option<bool>,
    /// What else the record says.
    #[serde(flatten)]
    pub extra: Extra,
}

impl EntryBody {
    /// Returns the record's type as it is written.
    pub fn kind(&self) -> &str {
        match self {
            Self::Message(_) => "message",
            Self::ModelChange { .. } => "model_change",
            Self::ThinkingLevelChange { .. } => "thinking_level_change",
            Self::Custom { .. } => "custom",
            Self::Compaction(_) => "compaction",
            Self::Other(value) => value["type"].as_str().unwrap_or_default(),
        }
    }
}

impl TranscriptEntry {
    /// Makes a record.
    pub fn new(id: String, parent_id: Option<String>, timestamp: String, body: EntryBody) -> Self {
        Self {
            id,
            parent_id,
            timestamp,
            body,
            extra: Extra::new(),
        }
    }

    /// Returns the message, if the record is one.
    pub const fn message(&self) -> Option<&Message> {
        match &self.body {
            EntryBody::Message(message) => Some(message),
            EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Custom { .. }
            | EntryBody::Compaction(_)
            | EntryBody::Other(_) => None,
        }
    }
}
