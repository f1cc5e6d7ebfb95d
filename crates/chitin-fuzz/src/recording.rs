//! Recorded turns as differences, whose checksums are right and whose contents are not: what leans on what is up to the input.

use crate::recipe::Recipe;
use crate::records::any;
use crate::trace;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
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

/// Makes entries of choices, in blocks, and reads them as a recording.
pub fn run(data: &[u8]) {
    let mut recipe = Recipe::new(data);
    let (mut content, mut text) = (Vec::new(), String::new());
    let (mut segment, mut block, mut line) = (0, 0_u32, 0_u32);
    for _ in 0..60 {
        if recipe.is_done() {
            break;
        }
        let number = match recipe.byte() % 8 {
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
        text.push_str(&json!([number, first, base, kind, value]).to_string());
        text.push('\n');
        line += 1;
        if recipe.byte().is_multiple_of(2) {
            content.extend_from_slice(sealed(segment, block, &text).as_bytes());
            text.clear();
            block += 1;
        }
        if recipe.byte() > 240 {
            (segment, block, line) = (content.len(), 0, 0);
        }
    }
    content.extend_from_slice(sealed(segment, block, &text).as_bytes());
    trace::check(&content);
}

/// Writes a block that is not compressed: what reads it does not care.
fn sealed(segment: usize, number: u32, text: &str) -> String {
    let mut stored = Vec::new();
    let mut parts = text.as_bytes().chunks(usize::from(u16::MAX)).peekable();
    while let Some(part) = parts.next() {
        let length = u16::try_from(part.len()).unwrap_or(u16::MAX);
        stored.push(u8::from(parts.peek().is_none()));
        stored.extend_from_slice(&length.to_le_bytes());
        stored.extend_from_slice(&(!length).to_le_bytes());
        stored.extend_from_slice(part);
    }
    let body = STANDARD_NO_PAD.encode(stored);
    let line = format!("{{\"p1\":[{segment},{number}],\"z\":\"{body}\"");
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
