//! What a transcript holds, counted while it passes by.

use super::{Unreadable, plain_text};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Texts above this size are shortened; nobody reads more of them in a summary.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// How many kinds of records and names of tools are told apart.
const MAX_NAMES: usize = 1_000;
/// What a record counts as that could not be read.
const UNREADABLE: &str = "unreadable";

/// What a transcript holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptSummary {
    /// How many records, the header and unreadable ones included.
    pub records: u64,
    /// How many of each kind; messages by role, such as `message:user`.
    pub kinds: BTreeMap<String, u64>,
    /// How many messages of the user.
    pub user_messages: u64,
    /// The first text of the user, as stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_user_text: Option<String>,
    /// The last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_user_text: Option<String>,
    /// The words in the first one, without what the runtime put around them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_user_text_plain: Option<String>,
    /// The words in the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_user_text_plain: Option<String>,
    /// The names of tools that were called, each once, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_called: Vec<String>,
    /// Whether a message holds an image itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_inline_image: bool,
}

impl TranscriptSummary {
    /// Returns how many records could not be read.
    pub fn unreadable(&self) -> u64 {
        self.kinds.get(UNREADABLE).copied().unwrap_or(0)
    }

    /// Counts a record.
    pub(crate) fn take(&mut self, record: Result<&[u8], Unreadable>) {
        self.records += 1;
        let parsed = record
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok())
            .filter(Value::is_object);
        let Some(record) = parsed else {
            self.count(UNREADABLE);
            return;
        };
        let kind = record.get("type").and_then(Value::as_str);
        let Some(kind) = kind else {
            self.count("unknown");
            return;
        };
        if kind != "message" {
            self.count(kind);
            return;
        }
        let message = record.get("message").unwrap_or(&Value::Null);
        let role = message.get("role").and_then(Value::as_str);
        self.count(&format!("message:{}", role.unwrap_or("unknown")));
        let content = message.get("content").unwrap_or(&Value::Null);
        self.look_into(content);
        if role == Some("user") {
            self.user_messages += 1;
            let text = shortened(text_of(content));
            if self.first_user_text.is_none() {
                self.first_user_text = Some(text.clone());
            }
            self.last_user_text = Some(text);
        }
    }

    /// Works out what follows from all records; the texts are kept only where they are wanted.
    pub(crate) fn finish(mut self, texts: bool) -> Self {
        if !texts {
            self.first_user_text = None;
            self.last_user_text = None;
        }
        self.first_user_text_plain = self.first_user_text.as_deref().map(plain_text);
        self.last_user_text_plain = self.last_user_text.as_deref().map(plain_text);
        self
    }

    fn count(&mut self, kind: &str) {
        let has_room = self.kinds.len() < MAX_NAMES;
        match self.kinds.get_mut(kind) {
            Some(count) => *count += 1,
            None if has_room => {
                self.kinds.insert(kind.to_owned(), 1);
            }
            None => {}
        }
    }

    fn look_into(&mut self, content: &Value) {
        for part in content.as_array().into_iter().flatten() {
            match part.get("type").and_then(Value::as_str) {
                Some("toolCall") => {
                    let name = part.get("name").and_then(Value::as_str).unwrap_or_default();
                    let known = self.tools_called.iter().any(|known| known == name);
                    if !known && !name.is_empty() && self.tools_called.len() < MAX_NAMES {
                        self.tools_called.push(name.to_owned());
                    }
                }
                Some("image") if part.get("data").is_some_and(Value::is_string) => {
                    self.has_inline_image = true;
                }
                Some(_) | None => {}
            }
        }
    }
}

/// Returns the text of a message: it is a text, or parts of which some are.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| {
                let is_text = part.get("type").and_then(Value::as_str) == Some("text");
                part.get("text").filter(|_| is_text)?.as_str()
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    }
    text
}
