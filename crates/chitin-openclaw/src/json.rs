//! Looking into JSON values that anybody may have written.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

/// Returns a member that is a text.
pub(crate) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

/// Returns a member that is a whole number.
pub(crate) fn whole(value: &Value, key: &str) -> Option<i64> {
    let number = value.get(key)?;
    // Programs write times with fractions of a millisecond too.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a time in milliseconds fits, and what does not is no time"
    )]
    let rounded = number.as_f64().map(|number| number as i64);
    number.as_i64().or(rounded)
}

/// Returns the texts in a list; numbers count as the texts that they look like.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(|item| match item {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
        .collect()
}

/// Writes named values as a map, in their order.
pub(crate) fn as_map<T: Serialize, S: Serializer>(
    entries: &[(String, T)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(entries.len()))?;
    for (key, value) in entries {
        map.serialize_entry(key, value)?;
    }
    map.end()
}
