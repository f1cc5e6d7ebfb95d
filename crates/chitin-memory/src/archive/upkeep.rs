//! Recognises words that no person said and nobody was meant to hear.

use super::compat;
use super::{Said, Speaker};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What the news that a command is done begins with, when nothing else is asked of it.
const COMMAND_FINISHED: &str = "exec finished";
/// What it begins with, when the command's name and outcome must follow.
const COMMAND_DONE: [&str; 2] = ["exec completed", "exec failed"];
/// The longest name of a command.
const MAX_COMMAND_NAME: usize = 64;

/// Tells whether a message, its white space collapsed, is upkeep.
pub(super) fn is_upkeep(text: &str, speaker: Speaker) -> bool {
    let by_speaker = match speaker {
        Speaker::User => {
            after_event(text).is_some() || is_scheduled(text) || is_heartbeat_prompt(text)
        }
        Speaker::Assistant => text == compat::HEARTBEAT_OK,
    };
    by_speaker || is_silent(text) || is_command_done(after_event(text).unwrap_or(text))
}

/// Tells whether another session said it.
pub(super) fn is_from_session(message: &Said<'_>) -> bool {
    let kind = message.value["provenance"]["kind"].as_str();
    message.speaker == Speaker::User && kind == Some(compat::FROM_SESSION)
}

/// Tells whether the program asks on behalf of the memory itself. The answers to that are not remembered either.
pub(super) fn asks_memory(message: &Value) -> bool {
    let provenance = &message["provenance"];
    provenance["kind"].as_str() == Some(compat::FROM_PROGRAM)
        && provenance["sourceTool"]
            .as_str()
            .is_some_and(|tool| compat::MEMORY_TOOLS.contains(&tool))
}

/// Tells whether a record says that the conversation is a diary of dreams.
pub(super) fn is_dream(record: &Value) -> bool {
    record["type"].as_str() == Some("custom")
        && record["data"]["runId"]
            .as_str()
            .is_some_and(|run| run.starts_with(compat::DREAM_RUN))
}

/// Returns what follows the time of an event, if it is one.
fn after_event(text: &str) -> Option<&str> {
    let after = compat::EVENTS
        .iter()
        .find_map(|begin| text.strip_prefix(begin))?;
    after_bracket(after)
}

fn is_scheduled(text: &str) -> bool {
    text.strip_prefix(compat::CRON)
        .and_then(after_bracket)
        .is_some()
}

/// Returns what follows a bracket that is not empty.
fn after_bracket(text: &str) -> Option<&str> {
    let (inside, after) = text.split_once(']')?;
    (!inside.is_empty()).then(|| after.trim_start_matches(' '))
}

fn is_heartbeat_prompt(text: &str) -> bool {
    // Their sentence is not ours to repeat; its fingerprint is enough.
    let is_theirs = || Sha256::digest(text.as_bytes())[..] == compat::HEARTBEAT_PROMPT;
    text == compat::HEARTBEAT_POLL || (text.len() == compat::HEARTBEAT_PROMPT_BYTES && is_theirs())
}

/// Tells whether an answer says that there is none: the token alone, once or more, between marks of punctuation, or as JSON.
fn is_silent(text: &str) -> bool {
    const MOST: usize = 200;
    if text.len() > MOST {
        return false;
    }
    if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) {
        let action = fields.get("action").and_then(Value::as_str);
        return fields.len() == 1 && action.map(str::trim) == Some(compat::NO_REPLY);
    }
    let inner = text.trim_matches(is_punctuation).trim_matches(' ');
    !inner.is_empty()
        && inner
            .split(' ')
            .all(|word| word.eq_ignore_ascii_case(compat::NO_REPLY))
}

/// Tells whether a character is a mark of punctuation; symbols such as `~` or `=` are none.
fn is_punctuation(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' | '\u{2044}' | '\u{2052}'
        | '\u{ff04}' | '\u{ff0b}' => false,
        '\u{a1}'
        | '\u{a7}'
        | '\u{ab}'
        | '\u{b6}'
        | '\u{b7}'
        | '\u{bb}'
        | '\u{bf}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}'
        | '\u{3014}'..='\u{301f}'
        | '\u{ff01}'..='\u{ff0f}'
        | '\u{ff1a}'
        | '\u{ff1b}'
        | '\u{ff1f}'
        | '\u{ff20}' => true,
        _ => c.is_ascii_punctuation(),
    }
}

/// Tells whether it is the news that a command is done.
fn is_command_done(text: &str) -> bool {
    let after = |begin: &str| {
        let start = text.get(..begin.len())?;
        let rest = text.get(begin.len()..)?.trim_start_matches(' ');
        (start.eq_ignore_ascii_case(begin)).then(|| rest.strip_prefix('('))?
    };
    after(COMMAND_FINISHED).is_some()
        || COMMAND_DONE
            .iter()
            .any(|begin| after(begin).is_some_and(names_outcome))
}

/// Tells whether a command's name and its outcome follow, and then nothing or what it printed.
fn names_outcome(text: &str) -> bool {
    let Some((name, (outcome, rest))) = text
        .split_once(", ")
        .and_then(|(name, rest)| Some((name, rest.split_once(')')?)))
    else {
        return false;
    };
    let is_name = (1..=MAX_COMMAND_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let is_number = |code: &str| {
        let digits = code.strip_prefix('-').unwrap_or(code);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_outcome = match outcome.trim_start_matches(' ').split_once(' ') {
        Some(("code", code)) => is_number(code),
        Some(("signal", signal)) => !signal.is_empty(),
        Some(_) | None => false,
    };
    is_name && is_outcome && (rest.is_empty() || rest.starts_with(" :: "))
}
