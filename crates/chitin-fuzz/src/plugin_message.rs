//! What plugins write: lines, messages, handshakes, definitions, contexts.

use crate::recipe::Recipe;
use crate::rpc::{frame, object, text};
use crate::{novelty, records};
use chitin_plugin::protocol::{
    LineBuffer, PluginMessage, assembled, bootstrapped, definition, handshake, ingested, parse,
    supports,
};
use chitin_protocol::message::Message;
use serde_json::{Value, json};
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

const METHODS: &[&str] = &[
    "log",
    "adapter.definition",
    "contextEngine.assemble",
    "$/cancel",
    "",
];

/// Reads the bytes as what a plugin wrote, in whole and in two parts. An input that begins with a one is choices for frames.
pub fn run(data: &[u8]) {
    if let Some((1, choices)) = data.split_first() {
        return of_bytes(built(&mut Recipe::new(choices)).as_bytes());
    }
    of_bytes(data);
}

fn built(recipe: &mut Recipe<'_>) -> String {
    let mut lines = String::new();
    for id in 1..12 {
        if recipe.is_done() {
            break;
        }
        lines.push_str(&frame(recipe, &json!(id), METHODS, result).to_string());
        lines.push_str(if recipe.byte() > 250 { "\r\n" } else { "\n" });
    }
    lines
}

/// Builds what some method gives back.
fn result(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 6 {
        0 => {
            let offers: Value = (0..recipe.byte() % 4)
                .map(|_| json!(recipe.pick(&["adapter", "contextEngine", "channel", ""])))
                .collect();
            let members = [
                ("protocolVersion", json!(recipe.byte() % 3)),
                ("name", json!(text(recipe))),
                ("version", json!("1")),
                ("offers", offers),
                ("adapter", json!({"priority": recipe.byte()})),
                (
                    "contextEngine",
                    json!({"ownsCompaction": recipe.byte().is_multiple_of(2)}),
                ),
            ];
            object(recipe, &members)
        }
        1 => {
            let skills: Value = (0..recipe.byte() % 5)
                .map(|_| json!(recipe.path(&["skills", "a", "..", "SKILL.md", ".", "", "/", "\\"])))
                .collect();
            let members = [
                ("name", json!(text(recipe))),
                ("operatingRules", json!(text(recipe))),
                ("persona", json!(text(recipe))),
                ("skills", skills),
                (
                    "extensions",
                    json!({recipe.pick(&["MCP.md", "PERMISSIONS.md", "x", "../MCP.md"]): text(recipe)}),
                ),
            ];
            object(recipe, &members)
        }
        2 | 3 => {
            let messages: Value = (0..recipe.byte() % 8)
                .map(|_| chosen_message(recipe))
                .collect();
            let members = [
                ("messages", messages),
                ("systemPromptAddition", json!(text(recipe))),
                ("estimatedTokens", json!(recipe.byte())),
            ];
            object(recipe, &members)
        }
        4 => {
            let name = recipe.pick(&["ingested", "bootstrapped", "supports", "reason"]);
            object(recipe, &[(name, json!(true))])
        }
        _ => records::any(recipe),
    }
}

fn chosen_message(recipe: &mut Recipe<'_>) -> Value {
    match recipe.byte() % 6 {
        0 => json!({"role": "user", "content": text(recipe)}),
        1 => {
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {}}]})
        }
        2 => json!({"role": "toolResult", "toolCallId": recipe.pick(&["c", "d"]), "content": "x"}),
        3 => records::any(recipe),
        _ => json!(recipe.byte() % 6),
    }
}

fn of_bytes(data: &[u8]) {
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
