//! OpenAI's Chat Completions, and what is compatible with it (P4).

mod stream;

use super::assembly::{Assembly, Telling};
use super::decode::{Framed, Frames};
use super::history::{self, Part, ReplayedReply, Turn, is_blank};
use super::{Decoder, LineLimits, Wire};
use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use chitin_contract::ProviderRules;
use chitin_protocol::message::{Block, Content, ToolResultMessage};
use serde_json::{Map, Value, json};

/// OpenAI's Chat Completions.
#[derive(Debug)]
pub(super) struct Completions;

/// The longest name of a call that is taken.
const MOST_ID: usize = 40;

/// The fields in which servers give thoughts, the best first. The field is the signature of the thoughts: it is where
/// they go back to.
pub(super) const THOUGHT_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

impl Wire for Completions {
    fn api(&self) -> Api {
        Api::OpenaiCompletions
    }

    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, _request: &ModelRequest<'_>) -> Vec<(String, String)> {
        super::json_headers()
    }

    fn key_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("authorization", "Bearer ")]
    }

    fn body(&self, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError> {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(request.model));
        body.insert("messages".to_owned(), Value::Array(messages(request)));
        body.insert("stream".to_owned(), json!(true));
        let options = json!({"include_usage": true});
        body.insert("stream_options".to_owned(), options);
        let tools = tools(request);
        let has_tools = !tools.is_empty() || request.rules.lists_no_tools;
        let limit = (
            "max_completion_tokens".to_owned(),
            json!(request.max_tokens),
        );
        if request.rules.completions.chooses_tools {
            if has_tools {
                body.insert("tools".to_owned(), Value::Array(tools));
                body.insert("tool_choice".to_owned(), json!("auto"));
            }
            body.extend([limit]);
        } else {
            body.extend([limit]);
            if has_tools {
                body.insert("tools".to_owned(), Value::Array(tools));
            }
        }
        if let Some(level) = request.thinking.filter(|level| *level != "off") {
            body.insert("reasoning_effort".to_owned(), json!(level));
        }
        history::lay_over(&mut body, request.extra);
        super::bytes(&body)
    }

    fn tools(&self, request: &ModelRequest<'_>) -> Vec<Value> {
        tools(request)
    }

    fn decoder_by(&self, provider: &str, model: &str, rules: &ProviderRules) -> Box<dyn Decoder> {
        let limits = LineLimits::DEFAULT;
        let telling = Telling {
            text_ends: rules.completions.announces_text_ends,
            call_ends: rules.completions.call_ends,
            calls: true,
            arguments_kept_as: rules.completions.arguments_kept_as,
            commentary: rules.marks_commentary,
        };
        Box::new(Framed::new(
            provider,
            Frames::events(limits),
            stream::Chunks::default(),
            Assembly::new(self.api(), provider, model, telling, limits.blocks),
        ))
    }
}

fn messages(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        let system = history::plain_system(request);
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in history::turns(request, Api::OpenaiCompletions) {
        match turn {
            Turn::User(content) => messages.extend(user(content)),
            Turn::Assistant(answer) => messages.extend(assistant(&answer, request)),
            Turn::Results(results) => tool_results(&results, request, &mut messages),
        }
    }
    if let Some((system, line)) = history::moved_line(request) {
        move_line(&mut messages, system, &line);
    }
    messages
}

/// Puts a line at the end of the first message, which every later request repeats, and takes it out of the system prompt. Without a
/// message it stays.
fn move_line(messages: &mut [Value], system: String, line: &str) {
    let Some((first, others)) = messages.split_first_mut() else {
        return;
    };
    let is_user = |message: &&mut Value| message["role"] == "user";
    let Some(message) = others.iter_mut().find(is_user) else {
        return;
    };
    match &mut message["content"] {
        Value::String(text) => {
            text.push_str("\n\n");
            text.push_str(line);
        }
        Value::Array(parts) => parts.push(json!({"type": "text", "text": line})),
        _ => return,
    }
    first["content"] = Value::String(system);
}

fn user(content: &Content) -> Option<Value> {
    let content = match content {
        Content::Text(text) => json!(text),
        Content::Blocks(blocks) => {
            let parts = blocks.iter().filter_map(|block| match block {
                Block::Text(block) => {
                    (!is_blank(&block.text)).then(|| json!({"type": "text", "text": block.text}))
                }
                Block::Image(block) => Some(image(&history::data_url(block))),
                Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => None,
            });
            let parts: Vec<Value> = parts.collect();
            if parts.is_empty() {
                return None;
            }
            Value::Array(parts)
        }
        Content::Other(_) => return None,
    };
    Some(json!({"role": "user", "content": content}))
}

fn image(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn assistant(answer: &ReplayedReply<'_>, request: &ModelRequest<'_>) -> Option<Value> {
    let mut texts = Vec::new();
    let mut thoughts = Vec::new();
    let mut field = None;
    let mut calls = Vec::new();
    for part in &answer.parts {
        match part {
            Part::Text(text, _) if is_blank(text) => {}
            Part::Text(text, _) => texts.push(*text),
            Part::Thought(block) if is_blank(&block.thinking) => {}
            Part::Thought(block) => {
                let signature = block.thinking_signature.as_deref();
                field = field.or(signature.filter(|name| THOUGHT_FIELDS.contains(name)));
                thoughts.push(block.thinking.as_str());
            }
            Part::Call(call) => {
                let arguments = Value::Object(history::arguments(call)).to_string();
                calls.push(json!({
                    "id": call_id(&call.id),
                    "type": "function",
                    "function": {"name": call.name, "arguments": arguments},
                }));
            }
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = match texts.as_slice() {
        [] => Value::Null,
        texts => json!(texts.join(request.rules.completions.text_joint)),
    };
    message.insert("content".to_owned(), content);
    if let Some(field) = field {
        message.insert(field.to_owned(), json!(thoughts.join("\n")));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Some(Value::Object(message))
}

/// Results hold text only; their pictures follow in a message of the user.
fn tool_results(
    results: &[&ToolResultMessage],
    request: &ModelRequest<'_>,
    messages: &mut Vec<Value>,
) {
    let mut pictures = Vec::new();
    for result in results {
        messages.push(json!({
            "role": "tool",
            "content": history::result_text(result, request),
            "tool_call_id": call_id(&result.tool_call_id),
        }));
        let images = history::images(&result.content);
        pictures.extend(images.map(|one| image(&history::data_url(one))));
    }
    if !pictures.is_empty() {
        let words = json!({"type": "text", "text": "Pictures from the results of tools:"});
        pictures.insert(0, words);
        messages.push(json!({"role": "user", "content": pictures}));
    }
}

/// Names of the Responses format have two halves, of which this one knows the first.
fn call_id(id: &str) -> String {
    match id.split_once('|') {
        Some((call, _)) => history::plain_id(call, MOST_ID),
        None => id.chars().take(MOST_ID).collect(),
    }
}

fn tools(request: &ModelRequest<'_>) -> Vec<Value> {
    history::tools(request)
        .into_iter()
        .map(super::function_tool)
        .collect()
}
