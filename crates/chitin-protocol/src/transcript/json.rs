//! How records are written and read, whatever they say.

use super::{Compaction, EntryBody, TranscriptEntry};
use crate::message::{Message, overlay, remember};
use serde::de::Error;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The fields of every record, in the order in which they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, B> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: &'a str,
    parent_id: Option<&'a str>,
    timestamp: &'a str,
    #[serde(flatten)]
    body: B,
}

#[derive(Serialize, Deserialize)]
struct MessageField<M> {
    message: M,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelField<T> {
    provider: T,
    model_id: T,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingField<T> {
    thinking_level: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CustomField<'a> {
    custom_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a Value>,
}

impl Serialize for TranscriptEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.extra.is_empty() {
            return self.serialize_plain(serializer);
        }
        let plain = self
            .serialize_plain(serde_json::value::Serializer)
            .map_err(S::Error::custom)?;
        let Value::Object(mut object) = plain else {
            return plain.serialize(serializer);
        };
        overlay(&mut object, &self.extra);
        object.serialize(serializer)
    }
}

impl TranscriptEntry {
    /// Writes the record without what was kept beside it.
    fn serialize_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn line<B>(entry: &TranscriptEntry, body: B) -> Line<'_, B> {
            Line {
                kind: entry.body.kind(),
                id: &entry.id,
                parent_id: entry.parent_id.as_deref(),
                timestamp: &entry.timestamp,
                body,
            }
        }
        match &self.body {
            EntryBody::Message(message) => {
                line(self, MessageField { message }).serialize(serializer)
            }
            EntryBody::ModelChange { provider, model_id } => {
                line(self, ModelField { provider, model_id }).serialize(serializer)
            }
            EntryBody::ThinkingLevelChange { thinking_level } => {
                line(self, ThinkingField { thinking_level }).serialize(serializer)
            }
            EntryBody::Custom { custom_type, data } => {
                let data = data.as_ref();
                line(self, CustomField { custom_type, data }).serialize(serializer)
            }
            EntryBody::Compaction(compaction) => line(self, compaction).serialize(serializer),
            // A record that was read carries all its fields; one that is new does not have those of every record yet.
            EntryBody::Other(Value::Object(fields)) if !fields.contains_key("id") => {
                let mut body = fields.clone();
                body.shift_remove("type");
                line(self, body).serialize(serializer)
            }
            EntryBody::Other(value) => value.serialize(serializer),
        }
    }

    /// Reads a record from its JSON value. Only a record without id or type is refused.
    pub fn from_value(value: Value) -> Result<Self, &'static str> {
        let Value::Object(object) = &value else {
            return Err("a record is no object");
        };
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let Some(id) = text("id").map(str::to_owned) else {
            return Err("a record has no id");
        };
        let Some(kind) = text("type") else {
            return Err("a record has no type");
        };
        let parent_id = text("parentId").map(str::to_owned);
        let timestamp = text("timestamp").unwrap_or_default().to_owned();
        // A time that is `null` could not be told from one that is not there.
        let has_null_time = object.get("timestamp").is_some_and(Value::is_null);
        let Some(body) = known_body(kind, object).filter(|_| !has_null_time) else {
            let body = EntryBody::Other(value);
            return Ok(Self::new(id, parent_id, timestamp, body));
        };
        let mut entry = Self::new(id, parent_id, timestamp, body);
        match entry.serialize_plain(serde_json::value::Serializer) {
            Ok(Value::Object(written)) => remember(object, &written, &mut entry.extra),
            Ok(_) | Err(_) => entry.body = EntryBody::Other(value),
        }
        Ok(entry)
    }
}

/// Reads what a record of a known kind says; `None` when it does not say what its kind must say.
fn known_body(kind: &str, object: &Map<String, Value>) -> Option<EntryBody> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(match kind {
        "message" => EntryBody::Message(Message::deserialize(object.get("message")?).ok()?),
        "model_change" => EntryBody::ModelChange {
            provider: text("provider")?,
            model_id: text("modelId")?,
        },
        "thinking_level_change" => EntryBody::ThinkingLevelChange {
            thinking_level: text("thinkingLevel")?,
        },
        "custom" => EntryBody::Custom {
            custom_type: text("customType")?,
            data: object.get("data").cloned(),
        },
        "compaction" => {
            let mut fields = object.clone();
            for envelope in ["type", "id", "parentId", "timestamp"] {
                fields.shift_remove(envelope);
            }
            EntryBody::Compaction(Compaction::deserialize(&Value::Object(fields)).ok()?)
        }
        _ => return None,
    })
}

impl<'de> Deserialize<'de> for TranscriptEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
