//! Breakpoints: up to where Anthropic shall cache a request (P10–P12).

use super::history::is_space;
use crate::compat;
use crate::request::Retention;
use chitin_contract::{AnthropicRules, MessageBreakpoint};
use serde_json::{Map, Value, json};

/// Returns how long a provider at some base URL can be asked to keep the prefix (P11).
pub fn retention_at(retention: Retention, base_url: &str, rules: &AnthropicRules) -> Retention {
    match retention {
        Retention::Long if rules.long_only_at_known_hosts && !keeps_long(base_url) => {
            Retention::Short
        }
        Retention::Long | Retention::Short | Retention::None => retention,
    }
}

fn keeps_long(base_url: &str) -> bool {
    let host = base_url
        .split_once("://")
        .map_or(base_url, |(_, rest)| rest)
        .split(['/', '?', '#'])
        .next()
        .unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split(':').next().unwrap_or_default().to_lowercase();
    compat::LONG_RETENTION_HOSTS.contains(&host.as_str())
        || host.ends_with(compat::LONG_RETENTION_SUFFIX)
}

/// Returns what marks a breakpoint; nothing if none shall be set.
pub(super) fn mark(retention: Retention) -> Option<Value> {
    match retention {
        Retention::None => None,
        Retention::Short => Some(json!({"type": "ephemeral"})),
        Retention::Long => Some(json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

/// Sets the breakpoints of a body of Anthropic's Messages: in the system prompt, whose boundary goes, and in the
/// conversation. A breakpoint at the tools is set where tools are written.
pub fn set_breakpoints(
    body: &mut Map<String, Value>,
    retention: Retention,
    rules: &AnthropicRules,
) {
    let mark = mark(retention);
    if let Some(Value::Array(system)) = body.get_mut("system") {
        let blocks = std::mem::take(system);
        *system = blocks
            .into_iter()
            .flat_map(|block| split_system(block, mark.as_ref()))
            .collect();
    }
    let Some(mark) = mark else { return };
    let used = marked(body.get("system")) + marked(body.get("tools"));
    if let Some(Value::Array(messages)) = body.get_mut("messages") {
        match rules.message_breakpoint {
            MessageBreakpoint::LastMessage => mark_last_message(messages, &mark),
            MessageBreakpoint::LastUserBlocks => {
                let left = compat::MOST_BREAKPOINTS.saturating_sub(used);
                mark_last_user_blocks(messages, &mark, left);
            }
        }
    }
}

fn marked(blocks: Option<&Value>) -> usize {
    let blocks = blocks.and_then(Value::as_array);
    blocks
        .into_iter()
        .flatten()
        .filter(|block| block.get(FIELD).is_some())
        .count()
}

/// Parts a block of the system prompt at the first boundary (P10). Without a breakpoint the boundary is a line end.
fn split_system(block: Value, mark: Option<&Value>) -> Vec<Value> {
    let Value::Object(mut fields) = block else {
        return vec![block];
    };
    let text = match fields.get("text") {
        Some(Value::String(text)) if fields.get("type") == Some(&json!("text")) => text.clone(),
        Some(_) | None => return vec![Value::Object(fields)],
    };
    let Some(mark) = mark else {
        let text = text.replace(compat::CACHE_BOUNDARY, "\n");
        fields.insert("text".to_owned(), Value::String(text));
        return vec![Value::Object(fields)];
    };
    let Some((stable, changing)) = text.split_once(compat::CACHE_BOUNDARY) else {
        fields.entry(FIELD).or_insert_with(|| mark.clone());
        return vec![Value::Object(fields)];
    };
    let own_mark = fields.shift_remove(FIELD);
    let mut blocks = Vec::new();
    let stable = stable.trim_end_matches(is_space);
    if !stable.is_empty() {
        let mut block = fields.clone();
        block.insert("text".to_owned(), json!(stable));
        block.insert(FIELD.to_owned(), own_mark.unwrap_or_else(|| mark.clone()));
        blocks.push(Value::Object(block));
    }
    let changing = changing.trim_start_matches(is_space);
    if !changing.is_empty() {
        fields.insert("text".to_owned(), json!(changing));
        blocks.push(Value::Object(fields));
    }
    blocks
}

const FIELD: &str = "cache_control";

fn mark_last_message(messages: &mut [Value], mark: &Value) {
    let Some(message) = messages.last_mut() else {
        return;
    };
    if message["role"] != "user" {
        return;
    }
    match message.get_mut("content") {
        Some(Value::Array(blocks)) => {
            if let Some(block) = blocks.last_mut()
                && matches!(
                    block["type"].as_str(),
                    Some("text" | "image" | "tool_result")
                )
            {
                block[FIELD] = mark.clone();
            }
        }
        Some(content) => mark_text(content, mark),
        None => {}
    }
}

/// Makes a block of plain text, and marks it.
fn mark_text(content: &mut Value, mark: &Value) {
    if let Value::String(text) = content {
        let text = std::mem::take(text);
        let mut block = json!({"type": "text", "text": text});
        block[FIELD] = mark.clone();
        *content = json!([block]);
    }
}

/// A block: the message, and its place in the list of blocks; plain text has none.
type Place = (usize, Option<usize>);

fn mark_last_user_blocks(messages: &mut [Value], mark: &Value, left: usize) {
    let (words, result) = last_user_blocks(messages);
    let places = match (words, result) {
        (Some(_), Some(result)) if left == 1 => vec![result],
        (words, result) => words.into_iter().chain(result).collect(),
    };
    if left == 0 {
        return;
    }
    for (message, block) in places {
        let content = &mut messages[message]["content"];
        match block {
            Some(block) => content[block][FIELD] = mark.clone(),
            None => mark_text(content, mark),
        }
    }
}

/// Finds the last text or picture of the user, and the last result of a tool after it.
fn last_user_blocks(messages: &[Value]) -> (Option<Place>, Option<Place>) {
    let mut result = None;
    for (at, message) in messages.iter().enumerate().rev() {
        if message["role"] != "user" {
            continue;
        }
        if message["content"].is_string() {
            return (Some((at, None)), result);
        }
        let blocks = message["content"].as_array().map(Vec::as_slice);
        for (index, block) in blocks.unwrap_or_default().iter().enumerate().rev() {
            match block["type"].as_str() {
                Some("text" | "image") => return (Some((at, Some(index))), result),
                Some("tool_result") if result.is_none() => result = Some((at, Some(index))),
                Some(_) | None => {}
            }
        }
    }
    (None, result)
}
