//! Frames of JSON-RPC made of choices, for what programs answer: whole in form, of any content.

use crate::recipe::Recipe;
use crate::records::any;
use serde_json::{Map, Value, json};

/// Builds an answer, an error, a request or a notification. `id` is the one that is waited for; `result` is what would be right.
pub fn frame(
    recipe: &mut Recipe<'_>,
    id: &Value,
    methods: &[&str],
    result: impl FnOnce(&mut Recipe<'_>) -> Value,
) -> Value {
    let id = match recipe.byte() % 16 {
        0 => json!(recipe.byte()),
        1 => json!(id.to_string()),
        2 => any(recipe),
        _ => id.clone(),
    };
    let version = if recipe.byte() > 250 {
        any(recipe)
    } else {
        json!("2.0")
    };
    match recipe.byte() % 8 {
        0 => {
            json!({"jsonrpc": version, "id": id, "error": {"code": code(recipe), "message": text(recipe), "data": any(recipe)}})
        }
        1 => json!({"jsonrpc": version, "method": recipe.pick(methods), "params": any(recipe)}),
        2 => {
            json!({"jsonrpc": version, "id": id, "method": recipe.pick(methods), "params": any(recipe)})
        }
        3 => json!({"jsonrpc": version, "id": id, "result": any(recipe)}),
        _ => json!({"jsonrpc": version, "id": id, "result": result(recipe)}),
    }
}

fn code(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 8 {
        0 => json!(i64::MAX),
        1 => json!("x"),
        2 => json!(1.5),
        3 => json!(-32_601),
        4 => json!(-32_000),
        _ => json!(-32_603),
    }
}

/// Builds an object with some of these members.
pub fn object(recipe: &mut Recipe<'_>, members: &[(&str, Value)]) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        let value = match recipe.byte() {
            0..=20 => continue,
            21..=40 => any(recipe),
            _ => value.clone(),
        };
        object.insert((*name).to_owned(), value);
    }
    Value::Object(object)
}

/// Takes a text that somebody may show to people.
pub fn text(recipe: &mut Recipe<'_>) -> String {
    match recipe.byte() % 4 {
        0 => String::from_utf8_lossy(recipe.line()).into_owned(),
        1 => "\u{1b}[2J\u{7}\r\u{202e}".to_owned(),
        2 => "long ".repeat(400),
        _ => "the session is gone".to_owned(),
    }
}
