//! Ollama's chat (P6).

mod stream;

use super::assembly::{Assembly, Telling};
use super::decode::{Framed, Frames};
use super::history::{self, Part, ReplayedReply, Turn};
use super::{Decoder, LineLimits, Wire};
use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use chitin_contract::{CallEnds, ProviderRules};
use chitin_protocol::message::{Content, ToolResultMessage};
use serde_json::{Map, Value, json};

/// Ollama's chat.
#[derive(Debug)]
pub(super) struct Ollama;

impl Wire for Ollama {
    fn api(&self) -> Api {
        Api::Ollama
    }

    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn headers(&self, _request: &ModelRequest<'_>) -> Vec<(String, String)> {
        vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "*/*".to_owned()),
        ]
    }

    fn key_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("authorization", "Bearer ")]
    }

    fn body(&self, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError> {
        let rules = &request.rules.ollama;
        let model = request.model.trim();
        let model = model.strip_prefix("ollama/").unwrap_or(model);
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(model));
        body.insert("messages".to_owned(), Value::Array(messages(request)));
        body.insert("stream".to_owned(), json!(true));
        let tools = self.tools(request);
        if !tools.is_empty() {
            body.insert("tools".to_owned(), Value::Array(tools));
        }
        let mut options = Map::new();
        let window = request.context_window.or(rules.window_unless_known);
        if let Some(window) = window.filter(|_| rules.sends_window) {
            options.insert("num_ctx".to_owned(), json!(window));
        }
        options.insert("num_predict".to_owned(), json!(request.max_tokens));
        body.insert("options".to_owned(), Value::Object(options));
        if rules.forbids_cutting {
            body.insert("truncate".to_owned(), json!(false));
            body.insert("shift".to_owned(), json!(false));
        }
        if let Some(level) = request.thinking {
            body.insert("think".to_owned(), json!(level != "off"));
        }
        history::lay_over(&mut body, request.extra);
        super::bytes(&body)
    }

    fn tools(&self, request: &ModelRequest<'_>) -> Vec<Value> {
        history::tools(request)
            .into_iter()
            .map(super::function_tool)
            .collect()
    }

    fn decoder_by(&self, provider: &str, model: &str, rules: &ProviderRules) -> Box<dyn Decoder> {
        let limits = LineLimits::DEFAULT;
        let telling = Telling {
            text_ends: true,
            call_ends: CallEnds::AtOnce,
            calls: rules.ollama.announces_calls,
            arguments_kept_as: None,
            commentary: false,
        };
        Box::new(Framed::new(
            provider,
            Frames::lines(limits),
            stream::Lines::new(&rules.ollama),
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
    for turn in history::turns(request, Api::Ollama) {
        match turn {
            Turn::User(content) => {
                let mut message = Map::new();
                message.insert("role".to_owned(), json!("user"));
                let text = history::texts(content).concat();
                message.insert("content".to_owned(), json!(text));
                add_images(content, &mut message);
                messages.push(Value::Object(message));
            }
            Turn::Assistant(answer) => messages.push(assistant(&answer, request)),
            Turn::Results(results) => {
                messages.extend(results.iter().map(|result| tool_result(result, request)));
            }
        }
    }
    messages
}

fn add_images(content: &Content, message: &mut Map<String, Value>) {
    let images: Vec<&str> = history::images(content)
        .map(|image| image.data.as_str())
        .collect();
    if !images.is_empty() {
        message.insert("images".to_owned(), json!(images));
    }
}

fn assistant(answer: &ReplayedReply<'_>, request: &ModelRequest<'_>) -> Value {
    let rules = &request.rules.ollama;
    let mut text = String::new();
    let mut thoughts = String::new();
    let mut calls = Vec::new();
    for part in &answer.parts {
        match part {
            Part::Text(words, _) => text.push_str(words),
            Part::Thought(block) if block.redacted != Some(true) => {
                thoughts.push_str(&block.thinking);
            }
            Part::Thought(_) => {}
            Part::Call(call) => {
                let mut fields = Map::new();
                if rules.sends_call_ids && !call.id.is_empty() {
                    fields.insert("id".to_owned(), json!(call.id));
                }
                let function = json!({"name": call.name, "arguments": history::arguments(call)});
                fields.insert("function".to_owned(), function);
                calls.push(Value::Object(fields));
            }
        }
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("content".to_owned(), json!(text));
    if rules.sends_thoughts && !thoughts.is_empty() {
        message.insert("thinking".to_owned(), json!(thoughts));
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Value::Object(message)
}

fn tool_result(result: &ToolResultMessage, request: &ModelRequest<'_>) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("tool"));
    let text = history::result_text(result, request);
    message.insert("content".to_owned(), json!(text));
    add_images(&result.content, &mut message);
    if request.rules.ollama.sends_call_ids && !result.tool_call_id.is_empty() {
        let id = json!(result.tool_call_id);
        message.insert("tool_call_id".to_owned(), id);
    }
    if let Some(name) = result.tool_name.as_ref().filter(|name| !name.is_empty()) {
        message.insert("tool_name".to_owned(), json!(name));
    }
    Value::Object(message)
}
