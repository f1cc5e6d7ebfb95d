//! What of a conversation is sent, before any format puts it into its own words.

use super::json;
use crate::compat;
use crate::request::{Api, ModelRequest};
use chitin_contract::{RuntimeLine, ToolOrder};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, ImageBlock, Message, StopReason, ThinkingBlock,
    ToolCallBlock, ToolResultMessage,
};
use chitin_protocol::tool::ToolSpec;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// One step of the conversation.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    /// Somebody's words.
    User(&'a Content),
    /// The model's answer.
    Assistant(ReplayedReply<'a>),
    /// What tools gave back, one after the other.
    Results(Vec<&'a ToolResultMessage>),
}

/// An answer that is sent again.
#[derive(Debug)]
pub(super) struct ReplayedReply<'a> {
    /// Its place among all messages that are sent.
    pub position: usize,
    /// Whether the model that is asked gave it: only then its signatures mean something.
    pub is_own: bool,
    /// What it says.
    pub parts: Vec<Part<'a>>,
}

/// A part of an answer.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Text, and what the provider wants back with it.
    Text(&'a str, Option<&'a str>),
    /// Thoughts of the model that is asked.
    Thought(&'a ThinkingBlock),
    /// A call of a tool.
    Call(&'a ToolCallBlock),
}

/// Returns what is sent of a conversation. Answers that failed or were stopped are left out, with the results of their
/// calls: providers take half a call for a fault. Roles that we do not know are left out too; whoever knows them has put
/// them into words before.
pub(super) fn turns<'a>(request: &ModelRequest<'a>, api: Api) -> Vec<Turn<'a>> {
    let failed = |message: &AssistantMessage| {
        matches!(
            message.stop_reason,
            Some(StopReason::Error | StopReason::Aborted)
        )
    };
    let mut dropped = HashSet::new();
    let mut kept = HashSet::new();
    for message in request.messages {
        if let Message::Assistant(message) = message {
            let calls = message.tool_calls().map(|call| call.id.as_str());
            if failed(message) {
                dropped.extend(calls);
            } else {
                kept.extend(calls);
            }
        }
    }
    let mut turns = Vec::new();
    let mut position = 0;
    for message in request.messages {
        match message {
            Message::User(message) => turns.push(Turn::User(&message.content)),
            Message::Assistant(message) if failed(message) => continue,
            Message::Assistant(message) => {
                let is_own = message.api.as_deref() == Some(api.name())
                    && message.model.as_deref() == Some(request.model);
                turns.push(Turn::Assistant(ReplayedReply {
                    position,
                    is_own,
                    parts: parts(&message.content, is_own),
                }));
            }
            Message::ToolResult(message) => {
                let id = message.tool_call_id.as_str();
                if dropped.contains(id) && !kept.contains(id) {
                    continue;
                }
                if let Some(Turn::Results(results)) = turns.last_mut() {
                    results.push(message);
                } else {
                    turns.push(Turn::Results(vec![message]));
                }
            }
            Message::Other(_) => continue,
        }
        position += 1;
    }
    turns
}

fn parts<'content>(content: &'content Content, is_own: bool) -> Vec<Part<'content>> {
    let blocks = match content {
        Content::Text(text) => return vec![Part::Text(text, None)],
        Content::Blocks(blocks) => blocks,
        Content::Other(_) => return Vec::new(),
    };
    let part = |block: &'content Block| match block {
        Block::Text(block) => {
            let signature = block.text_signature.as_deref().filter(|_| is_own);
            Some(Part::Text(&block.text, signature))
        }
        Block::Thinking(block) if is_own => Some(Part::Thought(block)),
        // Thoughts of another model are words to this one; what is sealed says nothing to it.
        Block::Thinking(block) if block.redacted == Some(true) => None,
        Block::Thinking(block) => Some(Part::Text(&block.thinking, None)),
        Block::ToolCall(call) => Some(Part::Call(call)),
        Block::Image(_) | Block::Other(_) => None,
    };
    blocks.iter().filter_map(part).collect()
}

/// Returns the texts of a message, blank ones too.
pub(super) fn texts(content: &Content) -> Vec<&str> {
    match content {
        Content::Text(text) => vec![text],
        Content::Blocks(blocks) => blocks.iter().filter_map(Block::as_text).collect(),
        Content::Other(_) => Vec::new(),
    }
}

/// Returns the pictures of a message.
pub(super) fn images(content: &Content) -> impl Iterator<Item = &ImageBlock> {
    content.blocks().iter().filter_map(|block| match block {
        Block::Image(image) => Some(image),
        Block::Text(_) | Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => None,
    })
}

/// Returns the text of a tool's result, or what stands for it.
pub(super) fn result_text(result: &ToolResultMessage, request: &ModelRequest<'_>) -> String {
    let text = texts(&result.content).join("\n");
    if !is_blank(&text) {
        return text;
    }
    if images(&result.content).next().is_some() {
        return compat::IMAGE_ONLY.to_owned();
    }
    if text.is_empty() || !request.rules.empty_result.is_empty() {
        return request.rules.empty_result.to_owned();
    }
    text
}

/// Returns the address of a picture that is all in itself.
pub(super) fn data_url(image: &ImageBlock) -> String {
    format!("data:{};base64,{}", image.mime_type, image.data)
}

/// Returns the arguments of a call as an object, whatever the record holds.
pub(super) fn arguments(call: &ToolCallBlock) -> Map<String, Value> {
    match &call.arguments {
        Some(Value::Object(fields)) => fields.clone(),
        Some(Value::String(text)) => json::arguments(text).unwrap_or_default(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {
            Map::new()
        }
    }
}

/// Returns the name of a call in letters that every provider takes.
pub(super) fn plain_id(id: &str, most: usize) -> String {
    id.chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
            _ => '_',
        })
        .take(most)
        .collect()
}

/// Returns the tools in the order of the contract (P7).
pub(super) fn tools<'a>(request: &ModelRequest<'a>) -> Vec<&'a ToolSpec> {
    let mut tools: Vec<&ToolSpec> = request.tools.iter().collect();
    match request.rules.tool_order {
        ToolOrder::Given => {}
        ToolOrder::ByName => tools.sort_by(|one, other| {
            (&one.name, &one.description).cmp(&(&other.name, &other.description))
        }),
    }
    tools
}

/// Returns the system prompt for providers that know no breakpoints (P10).
pub(super) fn plain_system(request: &ModelRequest<'_>) -> String {
    let system = unmarked_system(request);
    system.replace(compat::CACHE_BOUNDARY, "\n")
}

/// Returns the system prompt without the marks around what may be moved.
pub(super) fn unmarked_system<'a>(request: &ModelRequest<'a>) -> Cow<'a, str> {
    match request.rules.runtime_line {
        RuntimeLine::InPlace => Cow::Borrowed(request.system),
        RuntimeLine::FirstMessage => {
            let line_of = |mark: &str| format!("\n{mark}");
            let begin = line_of(compat::MOVABLE_BEGIN);
            let system = request.system.replace(&begin, "");
            Cow::Owned(system.replace(&line_of(compat::MOVABLE_END), ""))
        }
    }
}

/// Returns the system prompt without what goes to the first message, and that. Marks that stand there twice may be in somebody's file:
/// then nothing is moved.
pub(super) fn moved_line(request: &ModelRequest<'_>) -> Option<(String, String)> {
    if request.rules.runtime_line == RuntimeLine::InPlace {
        return None;
    }
    let (before, rest) = request.system.split_once(compat::MOVABLE_BEGIN)?;
    let (line, after) = rest.split_once(compat::MOVABLE_END)?;
    let line = line.trim_matches(is_space);
    let is_repeated = [before, line, after]
        .iter()
        .any(|part| part.contains(compat::MOVABLE_BEGIN) || part.contains(compat::MOVABLE_END));
    if is_repeated || line.is_empty() {
        return None;
    }
    let around = [
        before.trim_end_matches(is_space),
        after.trim_start_matches(is_space),
    ];
    let around: Vec<&str> = around.into_iter().filter(|part| !part.is_empty()).collect();
    let system = around.join("\n").replace(compat::CACHE_BOUNDARY, "\n");
    Some((system, line.to_owned()))
}

/// Lays the user's own fields over a body: objects are laid into each other, everything else is put in place of what is
/// there.
pub(super) fn lay_over(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(added)) => lay_over(inner, added),
            _ => {
                body.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Tells whether a text has nothing to read in it.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// White space as the recorded programs see it: the next-line character is none, the byte order mark is.
pub(super) fn is_space(c: char) -> bool {
    c == '\u{feff}' || c.is_whitespace() && c != '\u{85}'
}
