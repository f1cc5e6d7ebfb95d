//! Calls that no provider takes back are dropped, or sent under another name (C56).

use crate::compat::UNKNOWN_TOOL;
use crate::history::view::{any_call, result_id};
use chitin_contract::{OddNames, RepairRules};
use chitin_protocol::message::{AssistantMessage, Block, Content, Message};
use chitin_protocol::text::{trim_js, utf16_len};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// What a repair of calls did.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRepair {
    /// The conversation.
    pub messages: Vec<Message>,
    /// How many calls were dropped.
    pub dropped_calls: usize,
    /// How many answers were dropped because nothing was left of them.
    pub dropped_answers: usize,
    /// Whether anything changed.
    pub changed: bool,
}

/// Drops calls without an id, without input, or of a tool that is not allowed; trims names. `allowed`: the names of the
/// tools, in any letter case; none allows every name.
pub fn repair_calls(messages: &[Message], allowed: Option<&[String]>) -> CallRepair {
    let allowed: Option<Vec<String>> = allowed
        .map(|names| {
            let names = names.iter().map(|name| trim_js(name).to_lowercase());
            names.filter(|name| !name.is_empty()).collect()
        })
        .filter(|names: &Vec<String>| !names.is_empty());
    let fits = |block: &Block| {
        any_call(block).is_none_or(|call| {
            call.has_input
                && !trim_js(call.id).is_empty()
                && call
                    .name
                    .is_some_and(|name| is_name(trim_js(name), allowed.as_deref()))
        })
    };
    let mut report = CallRepair {
        messages: Vec::with_capacity(messages.len()),
        dropped_calls: 0,
        dropped_answers: 0,
        changed: false,
    };
    for message in messages {
        let Message::Assistant(answer) = message else {
            report.messages.push(message.clone());
            continue;
        };
        let Content::Blocks(blocks) = &answer.content else {
            report.messages.push(message.clone());
            continue;
        };
        let kept: Vec<Block> = blocks
            .iter()
            .filter(|block| fits(block))
            .map(trimmed)
            .collect();
        let dropped = blocks.len() - kept.len();
        report.dropped_calls += dropped;
        report.changed |= kept != *blocks;
        if dropped > 0 && kept.is_empty() {
            report.dropped_answers += 1;
            continue;
        }
        report.messages.push(Message::Assistant(AssistantMessage {
            content: Content::Blocks(kept),
            ..answer.clone()
        }));
    }
    report
}

/// Gives answered calls whose name no provider takes back a name that it does, where the contract says so. The transcript keeps the
/// model's own.
pub(in crate::history) fn rename_answered(messages: &mut [Message], rules: &RepairRules) {
    match rules.odd_names {
        OddNames::Drop => return,
        OddNames::Rename => {}
    }
    let answered: HashSet<String> = messages
        .iter()
        .filter_map(|message| match message {
            Message::ToolResult(result) => result_id(result).map(str::to_owned),
            Message::User(_) | Message::Assistant(_) | Message::Other(_) => None,
        })
        .collect();
    let mut renamed = HashMap::new();
    for message in messages {
        match message {
            Message::Assistant(answer) => {
                let Content::Blocks(blocks) = &mut answer.content else {
                    continue;
                };
                for block in blocks {
                    let Block::ToolCall(call) = block else {
                        continue;
                    };
                    if answered.contains(&call.id) && !is_name(trim_js(&call.name), None) {
                        call.name = sendable(&call.name);
                        renamed.insert(call.id.clone(), call.name.clone());
                    }
                }
            }
            Message::ToolResult(result) => {
                if let Some(name) = result_id(result).and_then(|id| renamed.get(id)) {
                    result.tool_name = Some(name.clone());
                }
            }
            Message::User(_) | Message::Other(_) => {}
        }
    }
}

/// Returns a name in letters that every provider takes.
fn sendable(name: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') => c,
        _ => '_',
    };
    let name: String = trim_js(name)
        .chars()
        .map(letter)
        .take(RepairRules::MAX_NAME_CHARS)
        .collect();
    if name.contains(|c: char| c.is_ascii_alphanumeric()) {
        name
    } else {
        UNKNOWN_TOOL.to_owned()
    }
}

fn is_name(name: &str, allowed: Option<&[String]>) -> bool {
    let name = in_namespace(name).unwrap_or(name);
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '.' | '-');
    let fits = !name.is_empty()
        && utf16_len(name) <= RepairRules::MAX_NAME_CHARS
        && name.chars().all(letters);
    fits && allowed.is_none_or(|allowed| allowed.contains(&name.to_lowercase()))
}

/// Returns the name behind the prefix `functions.` that some providers put before it.
fn in_namespace(name: &str) -> Option<&str> {
    let rest = name.get("functions".len()..)?;
    let prefixed = name[..name.len() - rest.len()].eq_ignore_ascii_case("functions");
    let own = rest.trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    (prefixed && own.len() < rest.len() && !own.is_empty()).then_some(own)
}

/// Returns a block with the name of its tool trimmed.
fn trimmed(block: &Block) -> Block {
    let mut block = block.clone();
    if any_call(&block).is_none() {
        return block;
    }
    match &mut block {
        Block::ToolCall(call) => call.name = trim_js(&call.name).to_owned(),
        Block::Other(value) => {
            let name = value.get("name").and_then(Value::as_str).map(trim_js);
            if let Some(name) = name.map(str::to_owned)
                && let Some(field) = value.get_mut("name")
            {
                *field = Value::String(name);
            }
        }
        Block::Text(_) | Block::Thinking(_) | Block::Image(_) => {}
    }
    block
}
