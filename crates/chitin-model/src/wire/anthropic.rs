//! Anthropic's Messages (P1–P3, P10–P12).

mod stream;

use super::assembly::{Assembly, Telling};
use super::decode::{Framed, Frames};
use super::history::{self, Part, ReplayedReply, Turn, is_blank};
use super::{Decoder, LineLimits, Wire, cache};
use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use chitin_contract::ProviderRules;
use chitin_protocol::message::{Block, Content, ImageBlock, ThinkingBlock, ToolResultMessage};
use serde_json::{Map, Value, json};

/// Anthropic's Messages.
#[derive(Debug)]
pub(super) struct Anthropic;

/// The longest name of a call that is taken.
const MOST_ID: usize = 64;

/// The beta feature that models which think as they see fit do not need.
const INTERLEAVED: &str = "interleaved-thinking";

impl Wire for Anthropic {
    fn api(&self) -> Api {
        Api::AnthropicMessages
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn headers(&self, request: &ModelRequest<'_>) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), "application/json".to_owned()),
            ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
        ];
        let adapts = thinks_as_it_sees_fit(request.model);
        let betas = request.rules.anthropic.betas.iter();
        let betas: Vec<&str> = betas
            .copied()
            .filter(|beta| !(adapts && beta.starts_with(INTERLEAVED)))
            .collect();
        if !betas.is_empty() {
            headers.push(("anthropic-beta".to_owned(), betas.join(",")));
        }
        headers
    }

    fn key_headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("x-api-key", "")]
    }

    fn body(&self, request: &ModelRequest<'_>) -> Result<Vec<u8>, ModelError> {
        let messages = messages(request);
        if messages.is_empty() {
            let problem = "there is nothing to send: no message has any text or picture";
            return Err(ModelError::Unbuildable(problem.to_owned()));
        }
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(request.model));
        body.insert("messages".to_owned(), Value::Array(messages));
        body.insert("max_tokens".to_owned(), json!(request.max_tokens));
        body.insert("stream".to_owned(), json!(true));
        if !request.system.is_empty() {
            let system = history::unmarked_system(request);
            let system = json!([{"type": "text", "text": system}]);
            body.insert("system".to_owned(), system);
        }
        let tools = tools(request);
        if !tools.is_empty() || request.rules.lists_no_tools {
            body.insert("tools".to_owned(), Value::Array(tools));
        }
        think(request, &mut body);
        cache::set_breakpoints(&mut body, request.retention, &request.rules.anthropic);
        history::lay_over(&mut body, request.extra);
        super::bytes(&body)
    }

    fn tools(&self, request: &ModelRequest<'_>) -> Vec<Value> {
        tools(request)
    }

    fn decoder_by(&self, provider: &str, model: &str, rules: &ProviderRules) -> Box<dyn Decoder> {
        let limits = LineLimits::DEFAULT;
        let telling = Telling {
            text_ends: true,
            call_ends: rules.anthropic.call_ends,
            calls: true,
            arguments_kept_as: None,
            commentary: rules.marks_commentary,
        };
        Box::new(Framed::new(
            provider,
            Frames::events(limits),
            stream::Messages::new(rules.anthropic.starts_at_once),
            Assembly::new(self.api(), provider, model, telling, limits.blocks),
        ))
    }
}

fn messages(request: &ModelRequest<'_>) -> Vec<Value> {
    let turns = history::turns(request, Api::AnthropicMessages);
    turns
        .iter()
        .filter_map(|turn| match turn {
            Turn::User(content) => user(content),
            Turn::Assistant(answer) => assistant(answer, request),
            Turn::Results(results) => {
                let results: Vec<Value> = results
                    .iter()
                    .map(|one| tool_result(one, request))
                    .collect();
                Some(json!({"role": "user", "content": results}))
            }
        })
        .collect()
}

fn user(content: &Content) -> Option<Value> {
    let content = match content {
        Content::Text(text) if is_blank(text) => return None,
        Content::Text(text) => json!(text),
        Content::Blocks(blocks) => {
            let blocks: Vec<Value> = blocks.iter().filter_map(user_block).collect();
            if blocks.is_empty() {
                return None;
            }
            Value::Array(blocks)
        }
        Content::Other(_) => return None,
    };
    Some(json!({"role": "user", "content": content}))
}

fn user_block(block: &Block) -> Option<Value> {
    match block {
        Block::Text(block) => text(&block.text),
        Block::Image(block) => Some(image(block)),
        Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => None,
    }
}

fn text(text: &str) -> Option<Value> {
    (!is_blank(text)).then(|| json!({"type": "text", "text": text}))
}

fn image(image: &ImageBlock) -> Value {
    json!({
        "type": "image",
        "source": {"type": "base64", "media_type": image.mime_type, "data": image.data},
    })
}

fn assistant(answer: &ReplayedReply<'_>, request: &ModelRequest<'_>) -> Option<Value> {
    let blocks = answer.parts.iter().filter_map(|part| match part {
        Part::Text(words, _) => text(words),
        Part::Thought(block) => thought(block, request),
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": history::plain_id(&call.id, MOST_ID),
            "name": call.name,
            "input": history::arguments(call),
        })),
    });
    let blocks: Vec<Value> = blocks.collect();
    (!blocks.is_empty()).then(|| json!({"role": "assistant", "content": blocks}))
}

/// Thoughts go back as they came, with their signature; without one they are words.
fn thought(block: &ThinkingBlock, request: &ModelRequest<'_>) -> Option<Value> {
    let signature = block.thinking_signature.as_deref().unwrap_or_default();
    if block.redacted == Some(true) {
        return Some(json!({"type": "redacted_thinking", "data": signature}));
    }
    if is_blank(signature) {
        return text(&block.thinking);
    }
    if is_blank(&block.thinking) && !request.rules.anthropic.sends_blank_thoughts {
        return None;
    }
    Some(json!({"type": "thinking", "thinking": block.thinking, "signature": signature}))
}

fn tool_result(result: &ToolResultMessage, request: &ModelRequest<'_>) -> Value {
    let mut images = history::images(&result.content).peekable();
    let content = if images.peek().is_some() {
        let mut blocks: Vec<Value> = result
            .content
            .blocks()
            .iter()
            .filter_map(user_block)
            .collect();
        if blocks.iter().all(|block| block["type"] == "image") {
            let words = history::result_text(result, request);
            blocks.insert(0, json!({"type": "text", "text": words}));
        }
        Value::Array(blocks)
    } else {
        json!(history::result_text(result, request))
    };
    json!({
        "type": "tool_result",
        "tool_use_id": history::plain_id(&result.tool_call_id, MOST_ID),
        "content": content,
        "is_error": result.is_error,
    })
}

fn tools(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut tools: Vec<Value> = history::tools(request)
        .into_iter()
        .map(|tool| {
            // Not by `json!`, which would copy the schema once more: definitions are most of a short request.
            let mut fields = Map::new();
            fields.insert("name".to_owned(), tool.name.as_str().into());
            fields.insert("description".to_owned(), tool.description.as_str().into());
            fields.insert("input_schema".to_owned(), schema(&tool.parameters));
            Value::Object(fields)
        })
        .collect();
    let mark = cache::mark(request.retention).filter(|_| request.rules.anthropic.tool_breakpoint);
    if let (Some(Value::Object(tool)), Some(mark)) = (tools.last_mut(), mark) {
        tool.insert("cache_control".to_owned(), mark);
    }
    tools
}

/// The provider wants a schema of an object, with its properties.
fn schema(parameters: &Value) -> Value {
    let mut fields = parameters.as_object().cloned().unwrap_or_default();
    fields.shift_remove("$schema");
    if fields.get("type") != Some(&json!("object")) {
        fields.insert("type".to_owned(), json!("object"));
    }
    if !fields.get("properties").is_some_and(Value::is_object) {
        fields.insert("properties".to_owned(), json!({}));
    }
    fields
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    Value::Object(fields)
}

/// Says how deeply to think. Older models want a number of tokens, which must leave room for the answer.
fn think(request: &ModelRequest<'_>, body: &mut Map<String, Value>) {
    const LEAST: u64 = 1024;
    let budget = match request.thinking {
        None | Some("off" | "none") => return,
        Some("minimal") => 1024,
        Some("low") => 2048,
        Some("medium") => 8192,
        Some(_) => 16_384,
    };
    if thinks_as_it_sees_fit(request.model) {
        let effort = match request.thinking {
            Some("minimal" | "low") => "low",
            Some("medium") => "medium",
            Some(_) | None => "high",
        };
        body.insert("thinking".to_owned(), json!({"type": "adaptive"}));
        body.insert("output_config".to_owned(), json!({"effort": effort}));
        return;
    }
    let budget = budget.min(request.max_tokens.saturating_sub(LEAST));
    if budget >= LEAST {
        let thinking = json!({"type": "enabled", "budget_tokens": budget});
        body.insert("thinking".to_owned(), thinking);
    }
}

/// Tells whether a model decides itself how much to think: Opus and Sonnet from 4.6 on.
fn thinks_as_it_sees_fit(model: &str) -> bool {
    ["opus-", "sonnet-"].iter().any(|family| {
        let Some((_, version)) = model.split_once(family) else {
            return false;
        };
        let mut numbers = version
            .split(['-', '.'])
            .map_while(|part| part.parse::<u32>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(4), Some(minor)) => (6..100).contains(&minor),
            (Some(major), _) => (5..100).contains(&major),
            (None, _) => false,
        }
    })
}
