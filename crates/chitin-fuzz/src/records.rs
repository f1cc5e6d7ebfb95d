//! Transcripts made of choices: records that are whole, with parents, ids and contents that may not fit each other.

use crate::recipe::Recipe;
use serde_json::{Map, Value, json};

/// The ids of records and calls. Few, so that they meet.
const IDS: &[&str] = &["a", "b", "c", "d", "e", "f", "g", "h", "", "\u{e9}", "a b"];
const CALLS: &[&str] = &[
    "t",
    "u",
    "v",
    "call_1|fc_2",
    "",
    "a very long name of a call that some provider made up, 0123456789012345678901234567890123456789",
];
const TEXTS: &[&str] = &[
    "x",
    "",
    " ",
    "NO_REPLY",
    "\u{1f600}\u{200d}\u{1f600}",
    "<final>y</final>",
    "[media attached 1/2: x]",
    "line\nline\n```\nopen",
    "The quick brown fox jumps over the lazy dog, again and again, until somebody stops it. ",
];
const STOPS: &[&str] = &["stop", "toolUse", "error", "aborted", "length", "other"];

/// Builds the lines of a transcript, without its header.
pub fn lines(recipe: &mut Recipe<'_>) -> String {
    let mut text = String::new();
    let mut last = None;
    for _ in 0..40 {
        if recipe.is_done() {
            break;
        }
        let (record, id) = record(recipe, last);
        let ending = match recipe.byte() {
            250 => "",
            251 => "\r\n",
            252 => "\n\n",
            _ => "\n",
        };
        text.push_str(&record.to_string());
        text.push_str(ending);
        last = Some(id);
    }
    text
}

fn record(recipe: &mut Recipe<'_>, last: Option<&'static str>) -> (Value, &'static str) {
    let id = recipe.pick(IDS);
    let parent = match recipe.byte() % 6 {
        0 => Value::Null,
        1 => json!(recipe.pick(IDS)),
        2 => json!(id),
        _ => json!(last),
    };
    let mut record = body(recipe);
    record.insert("id".into(), json!(id));
    record.insert("parentId".into(), parent);
    record.insert("timestamp".into(), json!("2026-08-01T00:00:00.000Z"));
    if recipe.byte() > 230 {
        record.insert(
            recipe.pick(&["x", "type2", "message", "id"]).to_owned(),
            any(recipe),
        );
    }
    (Value::Object(record), id)
}

fn body(recipe: &mut Recipe<'_>) -> Map<String, Value> {
    let body = match recipe.byte() % 12 {
        0..=2 => {
            json!({"type": "message", "message": {"role": "user", "content": content(recipe), "timestamp": 1}})
        }
        3..=5 => {
            let mut message = json!({"role": "assistant", "content": blocks(recipe), "stopReason": recipe.pick(STOPS)});
            if recipe.byte().is_multiple_of(2) {
                message["usage"] = json!({"input": number(recipe), "output": number(recipe), "totalTokens": number(recipe), "cost": {"total": number(recipe)}});
            }
            if recipe.byte().is_multiple_of(4) {
                message["errorMessage"] = json!(recipe.pick(TEXTS));
            }
            json!({"type": "message", "message": message})
        }
        6 | 7 => json!({"type": "message", "message": {
            "role": "toolResult", "toolCallId": recipe.pick(CALLS), "toolName": "read", "content": content(recipe), "isError": recipe.byte().is_multiple_of(2),
        }}),
        8 => {
            json!({"type": "compaction", "summary": recipe.pick(TEXTS), "firstKeptEntryId": recipe.pick(IDS), "tokensBefore": number(recipe)})
        }
        9 => {
            json!({"type": "custom_message", "customType": "x", "content": content(recipe), "display": recipe.byte().is_multiple_of(2)})
        }
        10 => {
            json!({"type": recipe.pick(&["custom", "model_change", "branch_summary", "session_info", "label", "leaf", "session", "thinking_level_change"]),
            "customType": "x", "data": any(recipe), "provider": "p", "modelId": "m", "targetId": recipe.pick(IDS), "fromId": recipe.pick(IDS), "summary": recipe.pick(TEXTS)})
        }
        _ => {
            json!({"type": "message", "message": {"role": recipe.pick(&["bashExecution", "branchSummary", "system", "custom", ""]), "content": any(recipe), "command": "ls", "output": "y"}})
        }
    };
    match body {
        Value::Object(body) => body,
        _ => Map::new(),
    }
}

fn content(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 4 {
        0 => json!(
            recipe
                .pick(TEXTS)
                .repeat(1 + usize::from(recipe.byte() % 64))
        ),
        1 => any(recipe),
        _ => blocks(recipe),
    }
}

fn blocks(recipe: &mut Recipe<'_>) -> Value {
    let count = recipe.byte() % 5;
    (0..count).map(|_| block(recipe)).collect()
}

fn block(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 8 {
        0..=2 => json!({"type": "text", "text": recipe.pick(TEXTS)}),
        3 | 4 => {
            json!({"type": "toolCall", "id": recipe.pick(CALLS), "name": recipe.pick(&["read", "exec", ""]), "arguments": any(recipe)})
        }
        5 => {
            json!({"type": "thinking", "thinking": recipe.pick(TEXTS), "thinkingSignature": recipe.pick(TEXTS), "redacted": recipe.byte().is_multiple_of(2)})
        }
        6 => {
            json!({"type": "image", "data": "AAAA", "mimeType": recipe.pick(&["image/png", "", "text/html"])})
        }
        _ => any(recipe),
    }
}

fn number(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 8 {
        0 => json!(u64::MAX),
        1 => json!(-1),
        2 => json!(1.5e300),
        3 => Value::Null,
        _ => json!(u32::from(recipe.byte()) * 100),
    }
}

/// Builds any JSON of a few levels.
pub fn any(recipe: &mut Recipe<'_>) -> Value {
    level(recipe, 4)
}

fn level(recipe: &mut Recipe<'_>, left: u8) -> Value {
    match recipe.byte() % 9 {
        0 => Value::Null,
        1 => json!(recipe.byte().is_multiple_of(2)),
        2 | 3 => number(recipe),
        4 | 5 => json!(recipe.pick(TEXTS)),
        6 => json!(String::from_utf8_lossy(recipe.line())),
        7 if left > 0 => (0..recipe.byte() % 4)
            .map(|_| level(recipe, left - 1))
            .collect(),
        _ if left > 0 => {
            let members = (0..recipe.byte() % 4).map(|_| {
                let key =
                    recipe.pick(&["type", "text", "data", "id", "name", "path", "content", "x"]);
                (key.to_owned(), level(recipe, left - 1))
            });
            Value::Object(members.collect())
        }
        _ => json!([]),
    }
}
