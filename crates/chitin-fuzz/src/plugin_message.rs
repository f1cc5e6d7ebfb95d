//! What plugins write: lines, messages, handshakes, definitions, contexts.

use crate::novelty;
use chitin_plugin::protocol::{
    LineBuffer, PluginMessage, assembled, bootstrapped, definition, handshake, ingested, parse,
    supports,
};
use chitin_protocol::message::Message;
use serde_json::Value;
use std::path::{Component, Path};

/// What messages are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":",
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"\"}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"log\",\"params\":{}}",
    "\"protocolVersion\":1",
    "\"name\":\"p\"",
    "\"version\":\"1\"",
    "\"offers\":[\"adapter\",\"contextEngine\",\"channel\"]",
    "\"adapter\":{\"priority\":1}",
    "\"contextEngine\":{\"ownsCompaction\":true}",
    "\"supports\":true",
    "\"operatingRules\":\"x\"",
    "\"skills\":[\"skills/a/SKILL.md\"]",
    "\"../\"",
    "\"extensions\":{\"MCP.md\":\"- a\"}",
    "\"messages\":[0,1,2,3]",
    "{\"role\":\"user\",\"content\":\"x\"}",
    "{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"content\":\"x\"}",
    "\"systemPromptAddition\":\"x\"",
    "\"estimatedTokens\":1",
    "\"ingested\":true",
    "\"bootstrapped\":true",
    "18446744073709551616",
    "-1",
    "null",
    "[[[[",
    "}}\n",
    "\n",
    "\u{0}",
];

/// Reads the bytes as what a plugin wrote, in whole and in two parts.
pub fn run(data: &[u8]) {
    let lines = split(&[data]);
    let (first, second) = data.split_at(data.len() / 2);
    assert_eq!(
        lines,
        split(&[first, second]),
        "lines depend on how the bytes came"
    );
    for line in lines.iter().flatten() {
        match parse(line) {
            Ok(PluginMessage::Answer {
                outcome: Ok(value), ..
            }) => {
                novelty::note("answer");
                check(&value);
            }
            Ok(PluginMessage::Answer {
                outcome: Err(error),
                ..
            }) => {
                assert!(!error.message.contains(char::is_control), "{error:?}");
                novelty::note(error.code == -32_601);
            }
            Ok(PluginMessage::Notification { .. }) => novelty::note("notification"),
            Err(error) => {
                let said = error.to_string();
                assert!(!said.is_empty() && said.len() < 4_000, "{said}");
                novelty::note(std::mem::discriminant(&error));
            }
        }
    }
    if let Ok(value) = serde_json::from_slice(data) {
        check(&value);
    }
}

fn split(parts: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    let mut buffer = LineBuffer::default();
    let mut lines = Vec::new();
    for part in parts {
        buffer.push(part, |line| lines.push(line));
    }
    lines
}

fn check(value: &Value) {
    let greeting = handshake(value.clone());
    novelty::note(greeting.as_ref().map(|known| known.offers.len()).ok());
    novelty::note(supports(value.clone()).ok());
    novelty::note(ingested(value.clone()).is_ok());
    novelty::note(bootstrapped(value.clone()).is_ok());
    let root = Path::new("/w");
    if let Ok(found) = definition(value.clone(), root, "p") {
        assert!(!found.name.is_empty());
        for skill in &found.skill_paths {
            let normal = |part: Component<'_>| matches!(part, Component::Normal(_));
            assert!(
                skill.relative().components().all(normal),
                "{skill:?} leads outside"
            );
        }
        novelty::note((found.skill_paths.len().min(3), found.extensions.is_empty()));
    }
    check_context(value);
}

/// A context is whole: it ends as the conversation does, and results stand behind their calls.
fn check_context(value: &Value) {
    let given = conversation();
    let Ok(context) = assembled(value.clone(), &given) else {
        return;
    };
    assert_eq!(context.messages.last(), given.last());
    let said = value["messages"].as_array().map_or(0, Vec::len);
    assert_eq!(context.messages.len(), said, "a part of the answer is lost");
    let of_role = |role: &str| {
        let messages = context.messages.iter();
        messages.filter(|one| one.role() == role).count()
    };
    assert_eq!(
        of_role("toolResult"),
        of_role("assistant"),
        "a call without its result, or the other way round"
    );
    novelty::note((said.min(5), context.system_prompt_addition.is_some()));
}

fn conversation() -> Vec<Message> {
    let messages = r#"[
        {"role":"user","content":"a"},
        {"role":"assistant","content":[{"type":"toolCall","id":"c","name":"read"}]},
        {"role":"toolResult","toolCallId":"c","content":"x"},
        {"role":"user","content":"b"}
    ]"#;
    serde_json::from_str(messages).unwrap_or_default()
}
