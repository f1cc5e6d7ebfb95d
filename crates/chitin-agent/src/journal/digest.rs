//! Digests that two programs can compare.

use chitin_protocol::message::Message;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Returns the SHA-256 of a value's JSON with the names of its fields in order, so that their order does not count.
pub(super) fn of_value(value: &Value) -> String {
    let mut text = String::new();
    write_ordered(value, &mut text);
    sha256(text.as_bytes())
}

/// The same for anything that can be written as JSON.
pub(super) fn of<T: Serialize + ?Sized>(value: &T) -> String {
    of_value(&serde_json::to_value(value).unwrap_or_default())
}

fn write_ordered(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_ordered(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            out.push('{');
            for (at, name) in names.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write_ordered(&fields[name], out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

/// What a list of messages comes to.
#[derive(Debug)]
pub(super) struct Fingerprints {
    pub(super) roles: Vec<String>,
    pub(super) each: Vec<String>,
    pub(super) all: String,
}

impl Fingerprints {
    pub(super) fn of(messages: &[Message]) -> Self {
        let each: Vec<String> = messages.iter().map(of).collect();
        Self {
            roles: messages.iter().map(|one| one.role().to_owned()).collect(),
            all: of(&each.join("|")),
            each,
        }
    }
}
