//! The answer to a heartbeat that has nothing to report (R72).

use crate::compat::HEARTBEAT_OK;
use chitin_protocol::text::{is_js_whitespace, trim_end_js, trim_js, utf16_len};

/// What may stand beside the token and still count as nothing to report.
pub const ACK_MAX_CHARS: usize = 300;

/// How many characters behind the token are taken for punctuation of it.
const TRAILING: usize = 4;

/// What an answer is an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatMode {
    /// A heartbeat: a few words beside the token are not worth a message.
    Heartbeat {
        /// How many.
        ack_max_chars: usize,
    },
    /// A message: whatever is left is delivered.
    Message,
}

/// What is left of an answer without the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrippedHeartbeat {
    /// Whether nothing is to be said.
    pub skip: bool,
    /// What is to be said.
    pub text: String,
    /// Whether a token was there.
    pub stripped: bool,
}

/// Takes the token off both ends of an answer, also out of simple markup.
pub fn strip_heartbeat(text: &str, mode: HeartbeatMode) -> StrippedHeartbeat {
    let whole = trim_js(text);
    let said = |skip: bool, text: &str, stripped| StrippedHeartbeat {
        skip,
        text: text.to_owned(),
        stripped,
    };
    if whole.is_empty() {
        return said(true, "", false);
    }
    if !whole.contains(HEARTBEAT_OK) {
        return said(false, whole, false);
    }
    let left = at_ends(whole)
        .filter(|left| !left.is_empty())
        .or_else(|| at_ends(&without_markup(whole)));
    match left {
        None => said(false, whole, false),
        Some(left) if left.is_empty() => said(true, "", true),
        Some(left) => match mode {
            HeartbeatMode::Heartbeat { ack_max_chars } if utf16_len(&left) <= ack_max_chars => {
                said(true, "", true)
            }
            HeartbeatMode::Heartbeat { .. } | HeartbeatMode::Message => said(false, &left, true),
        },
    }
}

/// Takes tokens off both ends; what is left has single blanks. Nothing, when there was none to take.
fn at_ends(text: &str) -> Option<String> {
    let mut body = trim_js(text);
    // What stood behind tokens that were taken off the end.
    let mut tail = String::new();
    let mut stripped = false;
    loop {
        if let Some(rest) = body.strip_prefix(HEARTBEAT_OK) {
            body = rest.trim_start_matches(is_js_whitespace);
            if tail.is_empty() {
                body = trim_end_js(body);
            }
            stripped = true;
            continue;
        }
        let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let end = body.rfind(word).map_or(0, |at| at + 1);
        let Some(before) = body[..end].strip_suffix(HEARTBEAT_OK) else {
            break;
        };
        let behind = format!("{}{tail}", &body[end..]);
        if utf16_len(&behind) > TRAILING {
            break;
        }
        stripped = true;
        body = trim_end_js(before);
        tail = if body.is_empty() {
            String::new()
        } else {
            trim_js(&behind).to_owned()
        };
    }
    stripped.then(|| single_blanks(&format!("{body}{tail}")))
}

fn single_blanks(text: &str) -> String {
    let words: Vec<&str> = text
        .split(is_js_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

/// Takes out tags and what emphasises the whole.
fn without_markup(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((_, behind)) = tag.split_once('>') else {
            break;
        };
        plain.push_str(before);
        plain.push(' ');
        rest = behind;
    }
    plain.push_str(rest);
    let lower = plain.to_ascii_lowercase();
    let mut spaced = String::with_capacity(plain.len());
    let mut at = 0;
    for (start, entity) in lower.match_indices("&nbsp;") {
        spaced.push_str(&plain[at..start]);
        spaced.push(' ');
        at = start + entity.len();
    }
    spaced.push_str(&plain[at..]);
    spaced.trim_matches(['*', '`', '~', '_']).to_owned()
}
