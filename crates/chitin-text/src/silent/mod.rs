//! Silent tokens: replies, or parts of them, that mean "send nothing" (R70–R72).

mod gate;
mod heartbeat;
mod reasoning;

pub use gate::{GateEnding, SilentGate};
pub use heartbeat::{ACK_MAX_CHARS, HeartbeatMode, StrippedHeartbeat, strip_heartbeat};

use crate::compat::NO_REPLY;
use crate::is_punctuation;
use chitin_contract::{OutboundRules, Silence};
use chitin_protocol::text::{is_js_whitespace, trim_end_js, trim_js};
use serde_json::Value;

/// Tells whether a text is nothing but the token, in any case.
pub fn is_silent(text: &str, rules: &OutboundRules) -> bool {
    let text = trim_js(text);
    match rules.silence {
        Silence::Exact => text.eq_ignore_ascii_case(NO_REPLY),
        Silence::Lenient => only_tokens(text) || only_tokens(text.trim_matches(is_punctuation)),
    }
}

/// Tells whether a whole answer means "say nothing": the token, or what some models make of it.
pub fn is_silent_answer(text: &str, rules: &OutboundRules) -> bool {
    is_silent(text, rules)
        || is_envelope(text)
        || match rules.silence {
            Silence::Exact => false,
            Silence::Lenient => {
                is_quoted(text) || reasoning::is_silent_behind_reasoning(text, rules)
            }
        }
}

/// Returns what is said of an answer: nothing, when it is silent, else the text without tokens at its ends.
pub fn spoken(text: &str, rules: &OutboundRules) -> Option<String> {
    let quoted = rules.silence == Silence::Lenient && is_quoted(text);
    if is_silent(text, rules) || is_envelope(text) || quoted {
        return None;
    }
    let begun = if starts_with_token(text, rules) {
        strip_leading(text)
    } else {
        text
    };
    let said = strip_trailing(begun, rules);
    (!said.is_empty()).then(|| said.to_owned())
}

/// Takes a token off the end, if blanks or asterisks part it from the text. The rest is trimmed.
pub fn strip_trailing<'a>(text: &'a str, rules: &OutboundRules) -> &'a str {
    let mut kept = text;
    let mut rest = trim_end_js(text);
    while let Some(before) = without_token_at_end(rest) {
        if before.is_empty() {
            return "";
        }
        if before.ends_with('*') {
            kept = before.trim_end_matches('*');
            break;
        }
        if !before.ends_with(is_js_whitespace) {
            break;
        }
        kept = before;
        rest = trim_end_js(before);
        if rules.silence == Silence::Exact {
            break;
        }
        if rest.is_empty() {
            return "";
        }
    }
    trim_js(kept)
}

/// Takes tokens off the beginning, glued to the text or not. The rest is trimmed.
pub fn strip_leading(text: &str) -> &str {
    let mut rest = text;
    while let Some(behind) = behind_token(rest.trim_start_matches(is_js_whitespace)) {
        rest = behind;
    }
    trim_js(rest)
}

/// Tells whether a text begins with tokens that are to be taken off: the last is glued to a letter or a digit. A lenient
/// contract takes off tokens on lines of their own, too.
pub fn starts_with_token(text: &str, rules: &OutboundRules) -> bool {
    let mut rest = text.trim_start_matches(is_js_whitespace);
    while let Some(behind) = behind_token(rest) {
        if behind.chars().next().is_some_and(char::is_alphanumeric) {
            return true;
        }
        let next = behind.trim_start_matches(is_js_whitespace);
        if behind_token(next).is_none() {
            let blanks = &behind[..behind.len() - next.len()];
            let on_its_own_line = blanks.contains(['\r', '\n']);
            return rules.silence == Silence::Lenient && on_its_own_line && !next.is_empty();
        }
        rest = next;
    }
    false
}

/// Tells whether a text could become the token as more of it comes: in upper case, and more than its first letter.
pub fn is_token_prefix(text: &str) -> bool {
    let begun = text.trim_start_matches(is_js_whitespace);
    NO_REPLY.starts_with(begun) && (begun.contains('_') || begun == "NO")
}

/// Returns what follows the token at the beginning of a text.
fn behind_token(text: &str) -> Option<&str> {
    let (token, rest) = text.split_at_checked(NO_REPLY.len())?;
    token.eq_ignore_ascii_case(NO_REPLY).then_some(rest)
}

fn without_token_at_end(text: &str) -> Option<&str> {
    let at = text.len().checked_sub(NO_REPLY.len())?;
    let (rest, token) = text.split_at_checked(at)?;
    token.eq_ignore_ascii_case(NO_REPLY).then_some(rest)
}

/// Tells whether there are only tokens, parted by blanks.
fn only_tokens(text: &str) -> bool {
    let mut words = text
        .split(is_js_whitespace)
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| word.eq_ignore_ascii_case(NO_REPLY))
}

/// Tells whether a text is an object that asks for silence and nothing else.
fn is_envelope(text: &str) -> bool {
    let text = trim_js(text);
    if !text.starts_with('{') || !text.ends_with('}') || !text.contains(NO_REPLY) {
        return false;
    }
    let Ok(Value::Object(object)) = serde_json::from_str(text) else {
        return false;
    };
    let action = object.get("action").and_then(Value::as_str);
    object.len() == 1 && action.is_some_and(|action| trim_js(action) == NO_REPLY)
}

/// Tells whether a text is the token as a JSON string.
fn is_quoted(text: &str) -> bool {
    let text = trim_js(text);
    text.starts_with('"')
        && text.contains(NO_REPLY)
        && serde_json::from_str::<String>(text).is_ok_and(|inner| trim_js(&inner) == NO_REPLY)
}
