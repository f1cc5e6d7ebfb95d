//! The answer of Chat Completions (P4).

use super::THOUGHT_FIELDS;
use crate::stream::StreamEvent;
use crate::wire::assembly::{Assembly, Fault};
use crate::wire::decode::{Machine, Step, StreamEnd};
use crate::wire::total;
use chitin_protocol::message::{StopReason, ThinkingBlock};
use serde_json::Value;
use std::collections::HashMap;

/// Reads the chunks of an answer.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    current: Option<Current>,
    /// The server's number of a call → its place in the message.
    calls: HashMap<u64, usize>,
    last_call: Option<usize>,
    finish_reason: Option<String>,
}

/// The block that text or thoughts are added to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Current {
    Text(usize),
    Thoughts(usize, &'static str),
}

impl Chunks {
    fn leave(&mut self, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        match self.current.take() {
            Some(Current::Text(place) | Current::Thoughts(place, _)) => message.close(place, out),
            None => {}
        }
    }

    fn text(&mut self, text: &str, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        let place = if let Some(Current::Text(place)) = self.current {
            place
        } else {
            self.leave(message, out);
            let place = message.open_text(out);
            self.current = Some(Current::Text(place));
            place
        };
        message.add(place, text, out);
    }

    fn thoughts(
        &mut self,
        field: &'static str,
        text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) {
        if text.is_empty() {
            return;
        }
        let place = match self.current {
            Some(Current::Thoughts(place, known)) if known == field => place,
            Some(_) | None => {
                self.leave(message, out);
                let block = ThinkingBlock {
                    thinking_signature: Some(field.to_owned()),
                    ..ThinkingBlock::default()
                };
                let place = message.open_thinking(block, out);
                self.current = Some(Current::Thoughts(place, field));
                place
            }
        };
        message.add(place, text, out);
    }

    fn delta(&mut self, delta: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        for field in THOUGHT_FIELDS {
            if let Some(text) = delta[field].as_str().filter(|text| !text.is_empty()) {
                self.thoughts(field, text, message, out);
                break;
            }
        }
        match &delta["content"] {
            Value::String(text) => self.text(text, message, out),
            // Some servers part what they say.
            Value::Array(parts) => {
                for part in parts {
                    self.part(part, message, out);
                }
            }
            part @ Value::Object(_) => self.part(part, message, out),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        if let Some(text) = delta["refusal"].as_str() {
            self.text(text, message, out);
        }
        if let Some(calls) = delta["tool_calls"].as_array() {
            for call in calls {
                self.leave(message, out);
                self.call(call, message, out);
            }
        }
    }

    fn part(&mut self, part: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        if let Some(text) = part["text"].as_str() {
            self.text(text, message, out);
        }
        match &part["thinking"] {
            Value::String(text) => self.thoughts(THOUGHT_FIELDS[0], text, message, out),
            Value::Array(parts) => {
                for part in parts {
                    let text = part["text"].as_str().unwrap_or_default();
                    self.thoughts(THOUGHT_FIELDS[0], text, message, out);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }

    fn call(&mut self, call: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        let id = call["id"].as_str().unwrap_or_default();
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let index = call["index"].as_u64();
        let known = match index {
            Some(index) => self.calls.get(&index).copied(),
            None => self.last_call,
        };
        // Some servers number every call 0: another name is another call.
        let known = known.filter(|place| {
            id.is_empty()
                || message
                    .call_id(*place)
                    .is_some_and(|old| old.is_empty() || old == id)
        });
        let place = if let Some(place) = known {
            message.name_call(place, id, name);
            place
        } else {
            let place = message.open_call(id, name, out);
            if let Some(index) = index {
                self.calls.insert(index, place);
            }
            place
        };
        self.last_call = Some(place);
        match &function["arguments"] {
            Value::String(text) => message.add(place, text, out),
            whole @ Value::Object(_) => message.add(place, &whole.to_string(), out),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
        }
    }

    fn done(&self, message: &Assembly) -> Step {
        match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => Step::Done(StopReason::Length),
            Some(word @ ("content_filter" | "network_error" | "error")) => Step::Failed(Fault {
                message: format!("the provider ended the answer: {word}"),
                kind: Some(word.to_owned()),
            }),
            Some(_) | None => Step::Done(message.stop_or_calls()),
        }
    }
}

impl Machine for Chunks {
    fn frame(
        &mut self,
        frame: &Value,
        _text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> Step {
        if let Some(fault) = fault(&frame["error"]) {
            return Step::Failed(fault);
        }
        let choice = &frame["choices"][0];
        let usage = [&frame["usage"], &choice["usage"]];
        if frame.get("choices").is_none() && usage.iter().all(|usage| usage.is_null()) {
            return Step::More;
        }
        message.start(out);
        if message.response_id.is_none() {
            message.response_id = frame["id"].as_str().map(str::to_owned);
        }
        if let Some(usage) = usage.into_iter().find(|usage| usage.is_object()) {
            count(usage, message);
        }
        // A server that does not stream gives the whole message at once.
        let delta = choice.get("delta").unwrap_or(&choice["message"]);
        self.delta(delta, message, out);
        if let Some(word) = choice["finish_reason"].as_str() {
            self.finish_reason = Some(word.to_owned());
        }
        Step::More
    }

    fn end(&mut self, end: StreamEnd, message: &Assembly) -> Step {
        match (end, &self.finish_reason) {
            (StreamEnd::Said, _) if message.is_started() => self.done(message),
            (StreamEnd::Closed, Some(_)) => self.done(message),
            (StreamEnd::Said | StreamEnd::Closed, _) => Step::More,
        }
    }
}

/// Reads an error that came instead of a chunk.
fn fault(error: &Value) -> Option<Fault> {
    let words = match error {
        Value::String(words) => words.as_str(),
        Value::Object(_) => error["message"]
            .as_str()
            .unwrap_or("the provider reports an error"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let kind = error["type"].as_str().or(error["code"].as_str());
    Some(Fault {
        message: words.to_owned(),
        kind: kind.map(str::to_owned),
    })
}

/// Cached tokens are counted among those of the prompt; here they are counted on their own.
fn count(told: &Value, message: &mut Assembly) {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let details = &told["prompt_tokens_details"];
    let cached = details["cached_tokens"].as_u64();
    let usage = &mut message.usage;
    usage.cache_read = cached.unwrap_or_else(|| number(&told["prompt_cache_hit_tokens"]));
    usage.cache_write = number(&details["cache_write_tokens"]);
    usage.input = number(&told["prompt_tokens"])
        .saturating_sub(usage.cache_read)
        .saturating_sub(usage.cache_write);
    usage.output = number(&told["completion_tokens"]);
    total(usage);
}
