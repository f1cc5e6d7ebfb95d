//! What a model asks of the tool, read kindly: ids may be numbers.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many messages are read when nothing is said.
const USUAL_LIMIT: u32 = 20;
/// How many messages are read at most.
const MOST_READ: u32 = 200;

/// What a model asks for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageToolRequest {
    pub(super) action: String,
    #[serde(default, deserialize_with = "id")]
    pub(super) channel: Option<String>,
    #[serde(default, alias = "to", deserialize_with = "id")]
    pub(super) target: Option<String>,
    #[serde(default)]
    pub(super) targets: Vec<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) account_id: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) message_id: Option<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) reply_to: Option<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) thread_id: Option<String>,
    #[serde(default)]
    pub(super) thread_name: Option<String>,
    #[serde(default)]
    pub(super) auto_archive_min: Option<u32>,
    #[serde(default)]
    pub(super) emoji: Option<String>,
    #[serde(default)]
    pub(super) remove: bool,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default, deserialize_with = "id")]
    pub(super) before: Option<String>,
    #[serde(default)]
    pub(super) silent: bool,
    #[serde(default)]
    pub(super) dry_run: bool,
    #[serde(default)]
    media: Option<String>,
    #[serde(default)]
    pub(super) path: Option<String>,
    #[serde(default)]
    file_path: Option<String>,
    #[serde(default)]
    attachments: Vec<Attachment>,
    #[serde(default)]
    pub(super) buffer: Option<String>,
    #[serde(default)]
    pub(super) filename: Option<String>,
    #[serde(default)]
    pub(super) content_type: Option<String>,
    #[serde(default)]
    caption: Option<String>,
    #[serde(default, deserialize_with = "id")]
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) overwrite: bool,
    /// Fields that only the surface knows.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

/// One of several files.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    #[serde(alias = "path", alias = "filePath")]
    media: String,
}

impl MessageToolRequest {
    /// Returns the files of the workspace that are to go with it, as the model names them.
    pub(super) fn paths(&self) -> Vec<&str> {
        let single = [&self.media, &self.path, &self.file_path];
        let single = single.into_iter().flatten();
        let several = self.attachments.iter().map(|one| &one.media);
        let all = single.chain(several).map(|path| path.trim());
        let mut paths: Vec<&str> = Vec::new();
        for path in all.filter(|path| !path.is_empty()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// Returns the words that go with files; there need not be any.
    pub(super) fn words(&self) -> &str {
        let words = self.message.as_deref().or(self.caption.as_deref());
        words.unwrap_or_default().trim()
    }

    /// Returns the fields that a surface gets with an action of its own.
    pub(super) fn fields(&self) -> BTreeMap<String, Value> {
        let mut fields = self.others.clone();
        let known = [
            ("message", &self.message),
            ("messageId", &self.message_id),
            ("emoji", &self.emoji),
            ("threadId", &self.thread_id),
            ("threadName", &self.thread_name),
            ("before", &self.before),
        ];
        for (field, value) in known {
            if let Some(value) = value {
                fields.insert(field.to_owned(), value.as_str().into());
            }
        }
        if self.limit.is_some() {
            fields.insert("limit".to_owned(), self.limit().into());
        }
        if self.remove {
            fields.insert("remove".to_owned(), true.into());
        }
        fields
    }

    /// Returns how many messages to read.
    pub(super) fn limit(&self) -> u32 {
        self.limit.unwrap_or(USUAL_LIMIT).clamp(1, MOST_READ)
    }

    /// Returns the text, which must be there.
    pub(super) fn text(&self) -> Result<&str, String> {
        filled(self.message.as_deref(), "message", &self.action)
    }

    /// Returns the message that it is about; without one, that which began the turn.
    pub(super) fn about<'a>(&'a self, began: Option<&'a str>) -> Result<&'a str, String> {
        let id = self.message_id.as_deref().or(began);
        filled(id, "messageId", &self.action)
    }
}

/// Returns a field that an action needs, or says that it is missing.
pub(super) fn filled<'a>(
    value: Option<&'a str>,
    field: &str,
    action: &str,
) -> Result<&'a str, String> {
    value
        .filter(|value| !value.trim().is_empty())
        .ok_or_else(|| format!("`{action}` needs `{field}`."))
}

fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Value::Null | Value::String(_) => Ok(None),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            Err(serde::de::Error::custom("an id is a text or a number"))
        }
    }
}
