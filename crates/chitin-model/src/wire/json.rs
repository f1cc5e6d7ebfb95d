//! JSON that comes in pieces, or damaged.

use chitin_protocol::message::ToolCallBlock;
use jiter::{JsonValue, PartialMode};
use serde_json::{Map, Number, Value};

/// The field of a call that holds what the model wrote instead of a JSON object.
pub const BROKEN_ARGUMENTS: &str = "brokenArguments";

/// Returns what the model wrote instead of arguments, if it did. Such a call must not be run; it wants an answer that says
/// what is wrong.
pub fn broken_arguments(call: &ToolCallBlock) -> Option<&str> {
    call.extra.get(BROKEN_ARGUMENTS)?.as_str()
}

/// Reads JSON that may end anywhere: gives as much as is certain, and null if there is nothing.
pub fn partial_json(text: &str) -> Value {
    JsonValue::parse_with_config(text.as_bytes(), false, PartialMode::TrailingStrings)
        .map_or(Value::Null, |value| plain(&value))
}

fn plain(value: &JsonValue<'_>) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(flag) => Value::Bool(*flag),
        JsonValue::Int(number) => Value::Number((*number).into()),
        JsonValue::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        JsonValue::Str(text) => Value::String(text.clone().into_owned()),
        JsonValue::Array(items) => Value::Array(items.iter().map(plain).collect()),
        JsonValue::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(name, value)| (name.clone().into_owned(), plain(value)))
                .collect(),
        ),
    }
}

/// Reads the data of an event. Halves of surrogate pairs, which some servers write when they cut a text between them,
/// become replacement characters.
pub(super) fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text)
        .ok()
        .or_else(|| serde_json::from_str(&without_lone_surrogates(text)?).ok())
}

/// Reads the arguments of a call that is complete: nothing means none, a text in quotes is looked into.
pub(super) fn arguments(text: &str) -> Option<Map<String, Value>> {
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    match parse(text)? {
        Value::Object(fields) => Some(fields),
        Value::Null => Some(Map::new()),
        Value::String(inner) => match parse(&inner)? {
            Value::Object(fields) => Some(fields),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => None,
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// Replaces `\uD800`–`\uDFFF` that have no partner; none if there are none.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_changed = false;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match (escaped(rest), rest.get(6..).and_then(escaped)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => {
                out.push_str(&rest[..12]);
                rest = &rest[12..];
            }
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                is_changed = true;
            }
            (Some(_), _) => {
                out.push_str(&rest[..6]);
                rest = &rest[6..];
            }
            (None, _) => {
                // The backslash and what it escapes, whatever that is.
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
        }
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Reads `\uXXXX` at the beginning of a text.
fn escaped(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}
