//! Requests without what changes from run to run, so that a recording is found again.
//!
//! Left out: the model's name, how long the answer may be, times, tokens, costs, answer ids, signatures, what tools keep for people. Names of
//! calls are counted through. In texts, times of day, dates, UUIDs, long hashes, long numbers and temporary directories become a
//! word in angle brackets. Everything else counts, down to the order of the tools.

use crate::http::digest;
use crate::local::Asked;
use crate::request::ModelRequest;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A request without what changes from run to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Normalised {
    /// The SHA-256 of the request.
    pub(crate) key: String,
    /// What it was made of.
    pub(crate) request: Value,
}

/// Fields of messages that change from run to run, or that say nothing about the conversation.
const VOLATILE: [&str; 12] = [
    "timestamp",
    "usage",
    "api",
    "provider",
    "model",
    "responseId",
    "stopReason",
    "errorMessage",
    "details",
    "textSignature",
    "thinkingSignature",
    "idempotencyKey",
];

/// One pattern per kind of text that changes, and the word that stands for it.
static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        // The model's name in the prompt's own line about the run: whoever answers, the question is the same.
        (r"\bmodel=[^\s|]+", "model=<model>"),
        (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<uuid>"),
        // A day of the week before a date belongs to it.
        (
            r"(?:\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)(?:[+-]\d+)?)?",
            "<time>",
        ),
        (
            r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{1,2}(?:st|nd|rd|th)?(?:, \d{4})?",
            "<time>",
        ),
        (r"\b\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?\b", "<time>"),
        (r"\b[0-9a-f]{16,}\b", "<hash>"),
        (r"\b\d{10,}\b", "<number>"),
        (r"/(?:private/)?(?:var/)?tmp/[^\s`'\x22/]+", "<temporary>"),
    ]
    .into_iter()
    .filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, word)))
    .collect()
});

/// Normalises a request.
pub(crate) fn normalise(request: &ModelRequest<'_>) -> Normalised {
    let asked = Asked::of(request);
    let mut calls = Calls::default();
    let messages: Vec<Value> = asked
        .messages
        .iter()
        .filter_map(|message| serde_json::to_value(message).ok())
        .map(|message| calls.in_value(message))
        .collect();
    let tools: Vec<Value> = asked
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": text(&tool.description), "parameters": tool.parameters}))
        .collect();
    let request = json!({"system": text(asked.system), "tools": tools, "messages": messages});
    Normalised {
        key: digest(request.to_string().as_bytes()),
        request,
    }
}

/// Counts names of calls through, in the order in which they appear.
#[derive(Default)]
struct Calls(HashMap<String, usize>);

impl Calls {
    fn in_value(&mut self, value: Value) -> Value {
        match value {
            Value::Object(object) => Value::Object(self.in_object(object)),
            Value::Array(list) => list.into_iter().map(|v| self.in_value(v)).collect(),
            Value::String(string) => text(&string).into(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    fn in_object(&mut self, object: Map<String, Value>) -> Map<String, Value> {
        let is_call = object.get("type").and_then(Value::as_str) == Some("toolCall");
        object
            .into_iter()
            .filter(|(name, _)| !VOLATILE.contains(&name.as_str()))
            .map(|(name, value)| {
                let is_id = name == "toolCallId" || (is_call && name == "id");
                let value = match value {
                    Value::String(id) if is_id => self.number(id).into(),
                    value => self.in_value(value),
                };
                (name, value)
            })
            .collect()
    }

    fn number(&mut self, id: String) -> String {
        let next = self.0.len() + 1;
        format!("call-{}", self.0.entry(id).or_insert(next))
    }
}

/// Normalises a text.
fn text(text: &str) -> String {
    PATTERNS
        .iter()
        .fold(text.to_owned(), |text, (pattern, word)| {
            match pattern.replace_all(&text, *word) {
                std::borrow::Cow::Borrowed(_) => text,
                std::borrow::Cow::Owned(changed) => changed,
            }
        })
}

/// Says where two requests differ first, and how: for a person who wonders why a recording does not fit.
pub(crate) fn difference(recorded: &Value, asked: &Value) -> Option<String> {
    first_difference("", recorded, asked)
}

/// Returns how much two requests have in common: leading messages, then tools and system prompt.
pub(crate) fn likeness(recorded: &Value, asked: &Value) -> (usize, usize) {
    let list = |value: &Value| value["messages"].as_array().cloned().unwrap_or_default();
    let (left, right) = (list(recorded), list(asked));
    let shared = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
    let same = ["system", "tools"]
        .iter()
        .filter(|name| recorded[**name] == asked[**name])
        .count();
    (shared * 2 + usize::from(left.len() == right.len()), same)
}

fn first_difference(place: &str, recorded: &Value, asked: &Value) -> Option<String> {
    match (recorded, asked) {
        (a, b) if a == b => None,
        (Value::Object(a), Value::Object(b)) => {
            let names = a
                .keys()
                .chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let place = if place.is_empty() {
                    name.clone()
                } else {
                    format!("{place}.{name}")
                };
                let value =
                    |object: &Map<String, Value>| object.get(name).cloned().unwrap_or_default();
                first_difference(&place, &value(a), &value(b))
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|index| {
            let value = |list: &[Value]| list.get(index).cloned().unwrap_or_default();
            first_difference(&format!("{place}[{index}]"), &value(a), &value(b))
        }),
        (Value::String(a), Value::String(b)) => Some(format!(
            "`{place}` was `{}` and is `{}`",
            around(a, b),
            around(b, a)
        )),
        (a, b) => Some(format!(
            "`{place}` was `{}` and is `{}`",
            short(a),
            short(b)
        )),
    }
}

/// Returns the part of a text where it begins to differ from another, with a few characters before it.
fn around(text: &str, other: &str) -> String {
    let shared = text
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let from = shared.saturating_sub(20);
    let before = if from > 0 { "…" } else { "" };
    let part: String = text.chars().skip(from).take(80).collect();
    let after = if text.chars().count() > from + 80 {
        "…"
    } else {
        ""
    };
    format!("{before}{part}{after}").replace('\n', "⏎")
}

fn short(value: &Value) -> String {
    match value {
        Value::Null => "missing".to_owned(),
        value => value.to_string().chars().take(120).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_from_run_to_run_becomes_a_word() {
        for (before, after) in [
            ("It is Sun 2026-11-15 10:31 GMT+1.", "It is <time>."),
            ("at 2026-11-15T10:31:02.120Z", "at <time>"),
            ("Sunday, November 15th, 2026 - 9:05 PM", "<time> - <time>"),
            ("run 6f1c2b1e-0d0c-4f5e-9f0a-0123456789ab", "run <uuid>"),
            (
                "in /tmp/chitin-test-HBzgc3/workspace",
                "in <temporary>/workspace",
            ),
            ("hash 0123456789abcdef0123", "hash <hash>"),
            ("ms 1763200000000", "ms <number>"),
            ("os=linux | model=yard/one", "os=linux | model=<model>"),
            ("version 2026.4 and 12 files", "version 2026.4 and 12 files"),
        ] {
            assert_eq!(text(before), after);
        }
        assert_eq!(PATTERNS.len(), 8);
    }

    #[test]
    fn the_first_difference_is_named() {
        let a =
            json!({"system": "s", "messages": [{"content": "one"}, {"content": "two and more"}]});
        let b =
            json!({"system": "s", "messages": [{"content": "one"}, {"content": "two or more"}]});
        assert_eq!(
            difference(&a, &b).as_deref(),
            Some("`messages[1].content` was `two and more` and is `two or more`")
        );
        assert_eq!(difference(&a, &a), None);
    }
}
