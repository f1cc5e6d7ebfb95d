//! Recognises words that no person said and nobody was meant to hear.

use super::compat;
use super::{Said, Speaker};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What begins the news that a command is done.
const COMMAND_DONE: [&str; 3] = ["exec completed (", "exec finished (", "exec failed ("];
/// What begins it when the command ran on another machine.
const COMMAND_DONE_ELSEWHERE: [&str; 2] = ["exec finished (node=", "exec finished (gateway"];

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
        && record["customType"].as_str() == Some(compat::FULL_CONTEXT)
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

/// Tells whether an answer says that there is none: the token alone, once or more, whatever stands around it, or as JSON.
fn is_silent(text: &str) -> bool {
    const MOST: usize = 200;
    if text.len() > MOST {
        return false;
    }
    if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(text) {
        let action = fields.get("action").and_then(Value::as_str);
        return fields.len() == 1 && action.map(str::trim) == Some(compat::NO_REPLY);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = text
        .split(|c| !is_word(c))
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| word.eq_ignore_ascii_case(compat::NO_REPLY))
}

/// Tells whether it is the news that a command is done.
fn is_command_done(text: &str) -> bool {
    let begins = |begin: &str| {
        text.get(..begin.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(begin))
    };
    if COMMAND_DONE_ELSEWHERE.iter().any(|begin| begins(begin)) {
        return true;
    }
    let Some(begin) = COMMAND_DONE.iter().find(|begin| begins(begin)) else {
        return false;
    };
    let Some((inside, _)) = text[begin.len()..].split_once(')') else {
        return false;
    };
    let how = inside.rsplit_once(", ").map(|(_, how)| how);
    how.is_some_and(|how| how.starts_with("code ") || how.starts_with("signal "))
}
