//! Takes somebody's words out of what a surface put around them.

use super::compat::{
    AFTER_LINES, AFTER_SIGNS, CONTEXT, LABEL_AFTER, LABELS, MARKER, PLUGIN_CLOSE, PLUGIN_OPEN,
};
use chitin_contract::Envelopes;
use chitin_protocol::text::trim_js;
use std::borrow::Cow;

/// Returns somebody's words.
pub(super) fn opened(text: &str, envelopes: Envelopes) -> Cow<'_, str> {
    let text = without_time(text);
    let (labelled, marked) = match envelopes {
        Envelopes::Labelled => (true, false),
        Envelopes::Marked => (false, true),
        Envelopes::LabelledOrMarked => (true, true),
    };
    let has_label =
        labelled && (text.contains(LABEL_AFTER) || LABELS.iter().any(|label| text.contains(label)));
    let is_context = |line: &str| line.trim_matches([' ', '\t']) == CONTEXT;
    let has_marker = marked && (text.contains(MARKER) || text.split('\n').any(is_context));
    if !has_label && !has_marker {
        return Cow::Borrowed(text);
    }
    let mut lines: Vec<&str> = text.split('\n').collect();
    if has_label {
        lines = without_plugin(&lines, LABEL_AFTER);
        lines = without_labelled(&lines);
    }
    if has_marker {
        lines = without_plugin(&lines, CONTEXT);
        lines = without_marked(&lines);
    }
    let kept = lines.join("\n");
    Cow::Owned(without_time(kept.trim_matches('\n')).to_owned())
}

/// Takes away the time that a surface puts first, such as `[Wed 2026-04-29 10:15 UTC]`.
fn without_time(text: &str) -> &str {
    const SHAPE: &[u8] = b"[aaa 0000-00-00 00:00";
    let bytes = text.as_bytes();
    let fits = bytes.len() > SHAPE.len()
        && SHAPE.iter().zip(bytes).all(|(shape, byte)| match shape {
            b'a' => byte.is_ascii_alphabetic(),
            b'0' => byte.is_ascii_digit(),
            exact => exact == byte,
        });
    match text.get(SHAPE.len()..).and_then(|rest| rest.find(']')) {
        Some(at) if fits => text[SHAPE.len() + at + 1..].trim_start_matches(' '),
        Some(_) | None => text,
    }
}

/// Takes out what a memory plugin added beneath a label.
fn without_plugin<'a>(lines: &[&'a str], label: &str) -> Vec<&'a str> {
    let is = |at: usize, what: &str| lines.get(at).is_some_and(|line| trim_js(line) == what);
    let last_close = lines.iter().rposition(|line| trim_js(line) == PLUGIN_CLOSE);
    let (mut kept, mut at) = (Vec::with_capacity(lines.len()), 0);
    while at < lines.len() {
        let opens = is(at, label) && is(at + 1, PLUGIN_OPEN);
        // Without a close anywhere below there is nothing to look for.
        if opens && last_close.is_some_and(|close| close > at + 1) {
            at += 2;
            while !is(at, PLUGIN_CLOSE) {
                at += 1;
            }
        } else {
            kept.push(lines[at]);
        }
        at += 1;
    }
    kept
}

/// Takes out blocks under labels of a fixed list, and what comes after somebody's words.
fn without_labelled<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut at) = (Vec::with_capacity(lines.len()), 0);
    while at < lines.len() {
        let line = trim_js(lines[at]);
        if line == LABEL_AFTER && has_sign(&lines[at + 1..]) {
            break;
        }
        let labelled = LABELS.contains(&line).then(|| after_fence(lines, at + 1));
        if let Some(after) = labelled.flatten() {
            at = after;
        } else {
            kept.push(lines[at]);
            at += 1;
        }
    }
    kept
}

/// Takes out what stands under labels that end with the marker.
fn without_marked<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut at) = (Vec::with_capacity(lines.len()), 0);
    while at < lines.len() {
        let line = trim_js(lines[at]);
        let label = line.strip_suffix(MARKER).filter(|label| !label.is_empty());
        match label {
            None => {
                kept.push(lines[at]);
                at += 1;
            }
            Some(label) if label.strip_suffix(' ') == Some(CONTEXT) => break,
            Some(_) => {
                at = after_fence(lines, at + 1).unwrap_or_else(|| {
                    // Plain text: up to the next empty line.
                    let rest = lines[at + 1..].iter();
                    at + 1 + rest.take_while(|line| !trim_js(line).is_empty()).count()
                });
            }
        }
    }
    kept
}

/// Returns the line after a block of JSON that begins at a line; nothing if none begins there.
fn after_fence(lines: &[&str], at: usize) -> Option<usize> {
    if trim_js(lines.get(at)?) != "```json" {
        return None;
    }
    let inside = &lines[at + 1..];
    let close = inside.iter().position(|line| trim_js(line) == "```");
    Some(close.map_or(lines.len(), |close| at + 1 + close + 1))
}

fn has_sign(lines: &[&str]) -> bool {
    let near = lines.iter().take(AFTER_LINES - 1);
    near.into_iter()
        .any(|line| AFTER_SIGNS.iter().any(|sign| line.contains(sign)))
}
