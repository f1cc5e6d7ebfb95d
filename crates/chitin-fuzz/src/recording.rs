//! Recorded turns as differences, whose checksums are right and whose contents are not: what leans on what is up to the input.

use crate::recipe::Recipe;
use crate::records::any;
use crate::trace;
use serde_json::{Value, json};

/// What choices are made of: each byte is one.
pub const DICTIONARY: &[&str] = &["\u{0}", "\u{1}", "\u{2}", "\u{3}", "\u{8}", "\u{20}"];

const KINDS: [&str; 5] = [
    "request",
    "session.started",
    "context.compiled",
    "model.request",
    "session.ended",
];

/// Makes lines of choices, and reads them as a recording.
pub fn run(data: &[u8]) {
    let mut recipe = Recipe::new(data);
    let mut content = Vec::new();
    let mut segment = 0;
    for line in 0_u32..60 {
        if recipe.is_done() {
            break;
        }
        let number = match recipe.byte() % 8 {
            0 => {
                segment = content.len();
                0
            }
            1 => u32::from(recipe.byte()),
            _ => line,
        };
        let base = Some(line.saturating_sub(u32::from(recipe.byte() % 4))).filter(|_| line > 0);
        let kind = recipe.pick(&KINDS);
        let value = match kind {
            "request" => request(&mut recipe),
            _ => event(&mut recipe, kind),
        };
        let first = u32::from(recipe.byte());
        let head = json!([segment, number, first, base, kind]);
        content.extend_from_slice(sealed(&format!("{{\"p1\":{head},\"e\":{value}")).as_bytes());
    }
    trace::check(&content);
}

fn sealed(line: &str) -> String {
    let sum = blake3::hash(line.as_bytes()).to_hex();
    format!("{line},\"sum\":\"{}\"}}\n", &sum[..16])
}

fn request(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 3 {
        0 => packed(recipe, 4),
        1 => json!({"runId": "r", "call": 1, "digest": "d", "json": packed(recipe, 4)}),
        _ => json!({"runId": "r", "call": 1, "digest": "d", "text": packed(recipe, 2)}),
    }
}

fn event(recipe: &mut Recipe<'_>, kind: &str) -> Value {
    if recipe.byte().is_multiple_of(2) {
        return packed(recipe, 5);
    }
    json!({
        "traceSchema": "openclaw-trajectory", "type": kind, "ts": "t", "sessionId": "s", "sessionKey": "agent:main:main",
        "runId": recipe.pick(&["r", "q"]),
        "data": {
            "call": 1, "body": {"sameAsRequest": [recipe.byte(), recipe.byte()]}, "messages": packed(recipe, 4), "usage": any(recipe),
        },
    })
}

/// A value with marks of all kinds in it, some of which stand for something.
fn packed(recipe: &mut Recipe<'_>, left: u8) -> Value {
    if left == 0 {
        return json!(recipe.byte());
    }
    let text = "a text that is long enough to have a number of its own";
    match recipe.byte() % 15 {
        0 => json!({"~": null}),
        1 => json!({"~": recipe.byte()}),
        2 => json!({"~": [text, recipe.byte(), recipe.byte(), "b"]}),
        3 => json!({"~": {"p": {"data": packed(recipe, left - 1)}}}),
        4 => json!({"~": {"p": {"messages": packed(recipe, left - 1)}}}),
        5 => json!({"~": {"k": {"data": packed(recipe, left - 1), "type": {"~": null}}}}),
        6 => {
            let run = json!({"~": {"r": [recipe.byte() % 4, recipe.byte() % 4]}});
            json!({"~": {"l": [run, packed(recipe, left - 1), packed(recipe, left - 1), run]}})
        }
        7 => {
            json!([{"~": {"e": recipe.byte()}}, {"~": [[recipe.byte() % 4, recipe.byte() % 4], text]}])
        }
        8 => json!({"~": {"l": [{"~": {"r": [0, 2]}}, text]}}),
        9 => json!({"~": {"o": {"~": packed(recipe, left - 1)}}}),
        10 => json!(text),
        11 => json!([packed(recipe, left - 1), packed(recipe, left - 1), text]),
        12 => json!({"data": packed(recipe, left - 1), "type": "x"}),
        13 => json!({"~": any(recipe)}),
        _ => any(recipe),
    }
}
