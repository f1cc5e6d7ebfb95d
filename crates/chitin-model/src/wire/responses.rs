//! OpenAI's Responses (P5).

mod stream;

use super::assembly::{Assembly, Telling, hex};
use super::decode::{Framed, Frames};
use super::history::{self, Part, ReplayedReply, Turn, is_blank};
use super::{Decoder, LineLimits, Wire, json as lenient};
use crate::error::ModelError;
use crate::request::{Api, ModelRequest};
use chitin_contract::{CallEnds, ProviderRules};
use chitin_protocol::message::{
    Block, Content, ImageBlock, ThinkingBlock, ToolCallBlock, ToolResultMessage,
};
use serde_json::{Map, Value, json};

/// OpenAI's Responses.
#[derive(Debug)]
pub(super) struct Responses;

/// The longest name of an item or a call that is taken.
const MOST_ID: usize = 64;

impl Wire for Responses {
    fn api(&self) -> Api {
        Api::OpenaiResponses
    }

    fn path(&self) -> &'static str {
        "/responses"
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
        body.insert("input".to_owned(), Value::Array(input(request)));
        body.insert("stream".to_owned(), json!(true));
        body.insert("max_output_tokens".to_owned(), json!(request.max_tokens));
        let tools = tools(request);
        if !tools.is_empty() || request.rules.lists_no_tools {
            body.insert("tools".to_owned(), Value::Array(tools));
        }
        body.insert("store".to_owned(), json!(false));
        if let Some(level) = request.thinking.filter(|level| *level != "off") {
            let reasoning = json!({"effort": level, "summary": "auto"});
            body.insert("reasoning".to_owned(), reasoning);
            let include = json!(["reasoning.encrypted_content"]);
            body.insert("include".to_owned(), include);
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
            text_ends: true,
            call_ends: CallEnds::AtOnce,
            calls: true,
            arguments_kept_as: rules.responses.arguments_kept_as,
            commentary: rules.marks_commentary,
        };
        Box::new(Framed::new(
            provider,
            Frames::events(limits),
            stream::Items::default(),
            Assembly::new(self.api(), provider, model, telling, limits.blocks),
        ))
    }
}

fn input(request: &ModelRequest<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if !request.system.is_empty() {
        let system = history::plain_system(request);
        let content = if request.rules.responses.types_messages {
            json!([input_text(&system)])
        } else {
            json!(system)
        };
        items.push(message("system", &content, request));
    }
    for turn in history::turns(request, Api::OpenaiResponses) {
        match turn {
            Turn::User(content) => {
                let parts = user_parts(content);
                if !parts.is_empty() {
                    items.push(message("user", &Value::Array(parts), request));
                }
            }
            Turn::Assistant(answer) => assistant(&answer, request, &mut items),
            Turn::Results(results) => {
                items.extend(results.iter().map(|result| tool_result(result, request)));
            }
        }
    }
    items
}

fn message(role: &str, content: &Value, request: &ModelRequest<'_>) -> Value {
    if request.rules.responses.types_messages {
        json!({"type": "message", "role": role, "content": content})
    } else {
        json!({"role": role, "content": content})
    }
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn input_image(image: &ImageBlock) -> Value {
    json!({"type": "input_image", "detail": "auto", "image_url": history::data_url(image)})
}

fn user_parts(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) => vec![input_text(text)],
        Content::Blocks(blocks) => blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(block) => (!is_blank(&block.text)).then(|| input_text(&block.text)),
                Block::Image(block) => Some(input_image(block)),
                Block::Thinking(_) | Block::ToolCall(_) | Block::Other(_) => None,
            })
            .collect(),
        Content::Other(_) => Vec::new(),
    }
}

fn assistant(answer: &ReplayedReply<'_>, request: &ModelRequest<'_>, items: &mut Vec<Value>) {
    // The provider refuses items by their name when it does not get the thoughts that led to them.
    let lacks_thoughts = answer.parts.iter().any(|part| match part {
        Part::Thought(block) => sealed(block).is_none(),
        Part::Text(..) | Part::Call(_) => false,
    });
    let sends_ids = request.rules.responses.sends_item_ids && !lacks_thoughts;
    for part in &answer.parts {
        match part {
            Part::Text(text, _) if is_blank(text) => {}
            Part::Text(text, signature) => {
                items.push(said(text, *signature, answer, sends_ids, request));
            }
            Part::Thought(block) => items.extend(sealed(block)),
            Part::Call(call) => items.push(called(call, answer.is_own && sends_ids)),
        }
    }
}

/// Thoughts go back as the provider gave them, sealed. Without the seal it does not know them: nothing is stored there.
fn sealed(block: &ThinkingBlock) -> Option<Value> {
    let item = lenient::parse(block.thinking_signature.as_deref()?)?;
    (item["type"] == "reasoning" && item["encrypted_content"].is_string()).then_some(item)
}

fn said(
    text: &str,
    signature: Option<&str>,
    answer: &ReplayedReply<'_>,
    sends_ids: bool,
    request: &ModelRequest<'_>,
) -> Value {
    let signature = signature.and_then(Signature::read);
    let mut item = Map::new();
    item.insert("type".to_owned(), json!("message"));
    item.insert("role".to_owned(), json!("assistant"));
    let part = json!({"type": "output_text", "text": text, "annotations": []});
    item.insert("content".to_owned(), json!([part]));
    if request.rules.responses.sends_item_ids {
        item.insert("status".to_owned(), json!("completed"));
        let given = signature.as_ref().map(|signature| signature.id.as_str());
        let id = match given.filter(|_| sends_ids) {
            Some(id) if id.len() <= MOST_ID => id.to_owned(),
            Some(id) => format!("msg_{}", hex(&[id.as_bytes()])),
            None => format!("msg_{}", answer.position),
        };
        item.insert("id".to_owned(), json!(id));
    }
    if let Some(phase) = signature.and_then(|signature| signature.phase) {
        item.insert("phase".to_owned(), json!(phase));
    }
    Value::Object(item)
}

/// What the provider wants back with a text.
struct Signature {
    id: String,
    phase: Option<String>,
}

impl Signature {
    fn read(text: &str) -> Option<Self> {
        let Some(Value::Object(fields)) = lenient::parse(text) else {
            // Old records hold nothing but the name.
            return (!text.is_empty()).then(|| Self {
                id: text.to_owned(),
                phase: None,
            });
        };
        Some(Self {
            id: fields.get("id")?.as_str()?.to_owned(),
            phase: fields
                .get("phase")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    }
}

fn called(call: &ToolCallBlock, sends_id: bool) -> Value {
    let (call_id, item_id) = halves(&call.id);
    let mut item = Map::new();
    item.insert("type".to_owned(), json!("function_call"));
    if let Some(id) = item_id.filter(|id| sends_id && !id.is_empty()) {
        item.insert("id".to_owned(), json!(history::plain_id(id, MOST_ID)));
    }
    item.insert("call_id".to_owned(), json!(call_id));
    item.insert("name".to_owned(), json!(call.name));
    let arguments = Value::Object(history::arguments(call)).to_string();
    item.insert("arguments".to_owned(), json!(arguments));
    Value::Object(item)
}

/// Parts the name of a call into the call's own and the item's.
fn halves(id: &str) -> (String, Option<&str>) {
    let (call, item) = match id.split_once('|') {
        Some((call, item)) => (call, Some(item)),
        None => (id, None),
    };
    (history::plain_id(call, MOST_ID), item)
}

fn tool_result(result: &ToolResultMessage, request: &ModelRequest<'_>) -> Value {
    let images: Vec<Value> = history::images(&result.content).map(input_image).collect();
    let text = history::result_text(result, request);
    let output = if images.is_empty() {
        json!(text)
    } else {
        let mut parts = vec![input_text(&text)];
        parts.extend(images);
        Value::Array(parts)
    };
    let (call_id, _) = halves(&result.tool_call_id);
    json!({"type": "function_call_output", "call_id": call_id, "output": output})
}

fn tools(request: &ModelRequest<'_>) -> Vec<Value> {
    history::tools(request)
        .into_iter()
        .map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            })
        })
        .collect()
}
