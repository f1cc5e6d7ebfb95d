//! What makes reading and writing lossless: whatever a type would not write back the same is kept beside it.

use super::{
    AssistantMessage, Extra, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock,
    ToolResultMessage, UserMessage,
};
use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A type that keeps what it does not understand.
pub(super) trait Keep: Serialize + DeserializeOwned + Clone {
    /// The names that the type understands.
    const NAMES: &'static [&'static str];

    /// Returns what it does not understand, and what it would write in another form.
    fn kept(&self) -> &Extra;

    /// The same, to be changed.
    fn kept_mut(&mut self) -> &mut Extra;
}

macro_rules! keep {
    ($type:ty, $($name:literal),+) => {
        impl Keep for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn kept(&self) -> &Extra {
                &self.extra
            }

            fn kept_mut(&mut self) -> &mut Extra {
                &mut self.extra
            }
        }
    };
}

keep!(UserMessage, "content", "timestamp");
keep!(
    AssistantMessage,
    "content",
    "api",
    "provider",
    "model",
    "usage",
    "stopReason",
    "errorMessage",
    "timestamp",
    "responseId"
);
keep!(
    ToolResultMessage,
    "toolCallId",
    "toolName",
    "content",
    "details",
    "isError",
    "timestamp"
);
keep!(TextBlock, "text", "textSignature");
keep!(ThinkingBlock, "thinking", "thinkingSignature", "redacted");
keep!(ImageBlock, "data", "mimeType");
keep!(ToolCallBlock, "id", "name", "arguments");

/// Compares an object with what would be written for it, and keeps every difference: the value where there was another
/// one, `null` where there was none and we would write one.
pub(crate) fn remember(
    original: &Map<String, Value>,
    written: &Map<String, Value>,
    kept: &mut Extra,
) {
    for (name, value) in original {
        if written.get(name) != Some(value) {
            kept.insert(name.clone(), value.clone());
        }
    }
    for name in written.keys().filter(|name| !original.contains_key(*name)) {
        kept.insert(name.clone(), Value::Null);
    }
}

/// Puts back what [`remember`] kept. `null` in place of something that we would write means that it was not there.
pub(crate) fn overlay(written: &mut Map<String, Value>, kept: &Extra) {
    for (name, value) in kept {
        if value.is_null() && written.contains_key(name) {
            written.shift_remove(name);
        } else {
            written.insert(name.clone(), value.clone());
        }
    }
}

/// Takes the tag off an object and reads the rest. `None` when it cannot be understood: the caller then keeps the object
/// itself, so that a record is never refused.
pub(super) fn read_known<T: Keep>(tag: &str, value: &Value) -> Option<T> {
    let mut object = value.as_object()?.clone();
    object.shift_remove(tag);
    let object = Value::Object(object);
    let mut read = T::deserialize(&object).ok()?;
    let written = serde_json::to_value(&read).ok()?;
    remember(object.as_object()?, written.as_object()?, read.kept_mut());
    Some(read)
}

/// Writes a value with its tag first.
#[derive(Serialize)]
struct Tagged<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(flatten)]
    value: &'a T,
}

/// Writes a value with its tag, and what was kept of the record that it was read from.
pub(super) fn write_known<T: Keep, S: Serializer>(
    tag: &'static str,
    word: &'static str,
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if !T::NAMES.iter().any(|name| value.kept().contains_key(*name)) {
        let (role, kind) = match tag {
            "role" => (Some(word), None),
            _ => (None, Some(word)),
        };
        return Tagged { role, kind, value }.serialize(serializer);
    }
    let mut plain = value.clone();
    let kept = std::mem::take(plain.kept_mut());
    let mut object = Map::new();
    object.insert(tag.to_owned(), word.into());
    if let Value::Object(fields) = serde_json::to_value(&plain).map_err(S::Error::custom)? {
        object.extend(fields);
    }
    overlay(&mut object, &kept);
    object.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use crate::message::Message;
    use serde_json::json;

    #[test]
    fn what_we_would_write_otherwise_is_understood_and_kept() {
        let record = json!({
            "role": "toolResult", "toolCallId": "a", "details": null,
            "content": [{"type": "toolCall", "id": "", "name": "x", "arguments": null}, 7],
        });
        let message: Message = serde_json::from_value(record.clone()).unwrap();
        assert!(matches!(&message, Message::ToolResult(result) if !result.is_error));
        assert_eq!(serde_json::to_value(&message).unwrap(), record);
    }

    #[test]
    fn tokens_with_more_detail_stay_so() {
        let record = json!({
            "role": "assistant", "content": [],
            "usage": {"input": 5, "cost": {"input": 5}, "contextUsage": {"state": "available"}},
        });
        let message: Message = serde_json::from_value(record.clone()).unwrap();
        assert!(
            matches!(&message, Message::Assistant(answer) if answer.usage.is_some_and(|usage| usage.input == 5))
        );
        assert_eq!(serde_json::to_value(&message).unwrap(), record);
    }
}
