//! The answer of Anthropic's Messages (P2, P3).

use crate::compat;
use crate::stream::StreamEvent;
use crate::wire::assembly::{Assembly, Fault};
use crate::wire::decode::{Machine, Step, StreamEnd};
use crate::wire::total;
use chitin_protocol::message::{StopReason, ThinkingBlock};
use serde_json::Value;
use std::collections::HashMap;

/// Reads the events of an answer.
#[derive(Debug)]
pub(super) struct Messages {
    starts_at_once: bool,
    /// The provider's number of a block → its place in the message.
    places: HashMap<u64, usize>,
    stop_reason: Option<String>,
}

impl Messages {
    pub(super) fn new(starts_at_once: bool) -> Self {
        Self {
            starts_at_once,
            places: HashMap::new(),
            stop_reason: None,
        }
    }

    fn place(&self, frame: &Value) -> Option<usize> {
        self.places.get(&frame["index"].as_u64()?).copied()
    }

    fn block_start(&mut self, frame: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        let block = &frame["content_block"];
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let place = match block["type"].as_str() {
            Some("text") => {
                let place = message.open_text(out);
                message.add(place, text("text"), out);
                place
            }
            Some("thinking") => {
                let thoughts = ThinkingBlock {
                    thinking_signature: Some(text("signature").to_owned()),
                    ..ThinkingBlock::default()
                };
                let place = message.open_thinking(thoughts, out);
                message.add(place, text("thinking"), out);
                place
            }
            Some("redacted_thinking") => {
                let thoughts = ThinkingBlock {
                    thinking: compat::REDACTED.to_owned(),
                    thinking_signature: Some(text("data").to_owned()),
                    redacted: Some(true),
                    ..ThinkingBlock::default()
                };
                message.open_thinking(thoughts, out)
            }
            Some("tool_use") => {
                let place = message.open_call(text("id"), text("name"), out);
                if let Some(input) = block["input"].as_object() {
                    message.whole_arguments(place, input);
                }
                place
            }
            // What the provider's own tools do is none of ours.
            Some(_) | None => return,
        };
        if let Some(index) = frame["index"].as_u64() {
            self.places.insert(index, place);
        }
    }

    fn block_delta(&mut self, frame: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        let Some(place) = self.place(frame) else {
            return;
        };
        let delta = &frame["delta"];
        let text = |name: &str| delta[name].as_str().unwrap_or_default();
        match delta["type"].as_str() {
            Some("text_delta") if message.text_mut(place).is_some() => {
                message.add(place, text("text"), out);
            }
            Some("thinking_delta") if message.thinking_mut(place).is_some() => {
                message.add(place, text("thinking"), out);
            }
            Some("input_json_delta") if message.call_id(place).is_some() => {
                message.add(place, text("partial_json"), out);
            }
            Some("signature_delta") => {
                if let Some(block) = message.thinking_mut(place) {
                    let signature = block.thinking_signature.get_or_insert_default();
                    signature.push_str(text("signature"));
                }
            }
            Some(_) | None => {}
        }
    }

    fn done(&self, message: &Assembly) -> Step {
        match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => Step::Done(StopReason::Length),
            Some(word @ ("refusal" | "sensitive")) => Step::Failed(Fault {
                message: format!("the provider ended the answer: {word}"),
                kind: Some(word.to_owned()),
            }),
            Some(_) | None => Step::Done(message.stop_or_calls()),
        }
    }
}

impl Machine for Messages {
    fn frame(
        &mut self,
        frame: &Value,
        _text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> Step {
        if self.starts_at_once {
            message.start(out);
        }
        match frame["type"].as_str() {
            Some("message_start") => {
                message.start(out);
                let begun = &frame["message"];
                message.response_id = begun["id"].as_str().map(str::to_owned);
                count(&begun["usage"], message);
            }
            Some("content_block_start") => self.block_start(frame, message, out),
            Some("content_block_delta") => self.block_delta(frame, message, out),
            Some("content_block_stop") => {
                if let Some(place) = self.place(frame) {
                    message.close(place, out);
                }
            }
            Some("message_delta") => {
                count(&frame["usage"], message);
                if let Some(word) = frame["delta"]["stop_reason"].as_str() {
                    self.stop_reason = Some(word.to_owned());
                }
            }
            Some("message_stop") => return self.done(message),
            Some("error") => {
                let error = &frame["error"];
                let words = error["message"].as_str();
                return Step::Failed(Fault {
                    message: words.unwrap_or("the provider reports an error").to_owned(),
                    kind: error["type"].as_str().map(str::to_owned),
                });
            }
            Some(_) | None => {}
        }
        Step::More
    }

    fn end(&mut self, end: StreamEnd, message: &Assembly) -> Step {
        // Proxies forget `message_stop`; a stop reason says as much.
        match (end, &self.stop_reason) {
            (StreamEnd::Closed, Some(_)) => self.done(message),
            (StreamEnd::Closed, None) | (StreamEnd::Said, _) => Step::More,
        }
    }
}

/// Takes over the numbers that are said; the others stay.
fn count(told: &Value, message: &mut Assembly) {
    let usage = &mut message.usage;
    let numbers = [
        ("input_tokens", &mut usage.input),
        ("output_tokens", &mut usage.output),
        ("cache_read_input_tokens", &mut usage.cache_read),
        ("cache_creation_input_tokens", &mut usage.cache_write),
    ];
    for (name, number) in numbers {
        if let Some(told) = told[name].as_u64() {
            *number = told;
        }
    }
    total(usage);
}
