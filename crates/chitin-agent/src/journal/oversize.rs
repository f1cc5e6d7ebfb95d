//! Events that are too long: what is left out, and what stands in its place (R115).

use super::compat;
use chitin_contract::{OversizeEvents, TraceRules};
use chitin_protocol::message::Message;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io;

/// What stands for what was too long.
fn left_out(bytes: usize, limit: usize) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("truncated".to_owned(), json!(true));
    fields.insert("originalBytes".to_owned(), json!(bytes));
    fields.insert("limitBytes".to_owned(), json!(limit));
    fields.insert("reason".to_owned(), json!(compat::OVERSIZE_REASON));
    fields
}

/// Tells whether a value stands for something that was too long.
pub(super) fn is_left_out(value: &Value) -> bool {
    value.get("reason").and_then(Value::as_str) == Some(compat::OVERSIZE_REASON)
        && value.get("truncated") == Some(&Value::Bool(true))
}

/// Returns messages as a value, unless they alone are too long: then they are not even copied.
pub(super) fn bulky(messages: &[Message], limit: usize) -> Value {
    let bytes = length(messages);
    if bytes > limit {
        Value::Object(left_out(bytes, limit))
    } else {
        json!(messages)
    }
}

/// Makes data fit, as the contract says, and tells whether all of it is there.
pub(super) fn fit(
    mut data: Map<String, Value>,
    room: usize,
    rules: &TraceRules,
) -> (Map<String, Value>, bool) {
    let limit = rules.trajectory_event_bytes;
    let missing: usize = data
        .values()
        .filter(|field| is_left_out(field))
        .filter_map(|field| usize::try_from(field["originalBytes"].as_u64()?).ok())
        .sum();
    let mut bytes = length(&data);
    let mut whole = missing == 0;
    match rules.trajectory_oversize {
        OversizeEvents::Data if bytes > room || !whole => (left_out(bytes + missing, limit), false),
        OversizeEvents::Data => (data, true),
        OversizeEvents::Fields => {
            while bytes > room {
                let longest = data
                    .iter_mut()
                    .filter(|(_, field)| !is_left_out(field))
                    .map(|(_, field)| (length(field), field))
                    .max_by_key(|(length, _)| *length);
                let Some((length_of_field, field)) = longest else {
                    return (left_out(bytes, limit), false);
                };
                *field = Value::Object(left_out(length_of_field, limit));
                whole = false;
                let now = length(&data);
                if now >= bytes {
                    return (left_out(bytes, limit), false);
                }
                bytes = now;
            }
            (data, whole)
        }
    }
}

/// Counts the bytes of a value's JSON without making it.
fn length<T: Serialize + ?Sized>(value: &T) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
