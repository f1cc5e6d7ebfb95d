//! The answer of Responses (P5).

use crate::stream::StreamEvent;
use crate::wire::assembly::{Assembly, Fault};
use crate::wire::decode::{Machine, Step, StreamEnd};
use crate::wire::total;
use chitin_protocol::message::{StopReason, ThinkingBlock};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Reads the events of an answer.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// The provider's number of an item → its place in the message.
    places: HashMap<u64, usize>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thoughts,
    Call,
}

impl Kind {
    fn of(item: &Value) -> Option<Self> {
        match item["type"].as_str() {
            Some("message") => Some(Self::Text),
            Some("reasoning") => Some(Self::Thoughts),
            Some("function_call") => Some(Self::Call),
            Some(_) | None => None,
        }
    }
}

impl Items {
    /// Returns an item's place; servers forget to say that an item begins.
    fn place(
        &mut self,
        frame: &Value,
        kind: Kind,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> usize {
        let index = frame["output_index"].as_u64().unwrap_or(0);
        if let Some(place) = self.places.get(&index) {
            return *place;
        }
        let place = match kind {
            Kind::Text => message.open_text(out),
            Kind::Thoughts => message.open_thinking(ThinkingBlock::default(), out),
            Kind::Call => {
                let item = &frame["item"];
                let name = item["name"].as_str().unwrap_or_default();
                message.open_call(&call_id(item), name, out)
            }
        };
        self.places.insert(index, place);
        place
    }

    fn added(&mut self, frame: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        let item = &frame["item"];
        if let Some(kind) = Kind::of(item) {
            let place = self.place(frame, kind, message, out);
            if kind == Kind::Call {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                message.add(place, arguments, out);
            }
        }
    }

    fn delta(
        &mut self,
        frame: &Value,
        kind: Kind,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) {
        let delta = frame["delta"].as_str().unwrap_or_default();
        if delta.is_empty() {
            return;
        }
        let place = self.place(frame, kind, message, out);
        let is_known = match kind {
            Kind::Text => message.text_mut(place).is_some(),
            Kind::Thoughts => message.thinking_mut(place).is_some(),
            Kind::Call => message.call_id(place).is_some(),
        };
        if is_known {
            message.add(place, delta, out);
        }
    }

    fn item_done(&mut self, frame: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        let item = &frame["item"];
        let Some(kind) = Kind::of(item) else { return };
        let place = self.place(frame, kind, message, out);
        match kind {
            Kind::Text => {
                let parts = item["content"].as_array().map(Vec::as_slice);
                let parts = parts.unwrap_or_default().iter();
                let texts: Vec<&str> = parts
                    .filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
                    .collect();
                if !texts.is_empty() {
                    message.settle(place, &texts.concat(), out);
                }
                if let Some(block) = message.text_mut(place) {
                    block.text_signature = signature(item);
                }
            }
            Kind::Thoughts => {
                let whole = thoughts(item);
                if !whole.is_empty() {
                    message.settle(place, &whole, out);
                }
                if let Some(block) = message.thinking_mut(place) {
                    if whole.is_empty() {
                        block.thinking.truncate(block.thinking.trim_end().len());
                    }
                    block.thinking_signature = Some(item.to_string());
                }
            }
            Kind::Call => {
                let name = item["name"].as_str().unwrap_or_default();
                message.name_call(place, &call_id(item), name);
                if let Some(arguments) = item["arguments"].as_str().filter(|text| !text.is_empty())
                {
                    message.settle(place, arguments, out);
                }
            }
        }
        message.close(place, out);
    }
}

impl Machine for Items {
    fn frame(
        &mut self,
        frame: &Value,
        _text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> Step {
        let Some(name) = frame["type"].as_str() else {
            return fault(&frame["error"]).map_or(Step::More, Step::Failed);
        };
        if name == "error" {
            let nested = fault(&frame["error"]);
            return Step::Failed(nested.or_else(|| fault(frame)).unwrap_or_else(unknown));
        }
        if !name.starts_with("response.") {
            return Step::More;
        }
        message.start(out);
        let response = &frame["response"];
        if let Some(id) = response["id"].as_str() {
            message.response_id = Some(id.to_owned());
        }
        match name {
            "response.output_item.added" => self.added(frame, message, out),
            "response.output_item.done" => self.item_done(frame, message, out),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.delta(frame, Kind::Text, message, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.delta(frame, Kind::Thoughts, message, out);
            }
            "response.reasoning_summary_part.done" => {
                let gap = json!({"output_index": frame["output_index"], "delta": "\n\n"});
                self.delta(&gap, Kind::Thoughts, message, out);
            }
            "response.function_call_arguments.delta" => {
                self.delta(frame, Kind::Call, message, out);
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                count(&response["usage"], message);
                return done(response, message);
            }
            "response.failed" | "response.cancelled" => {
                count(&response["usage"], message);
                return Step::Failed(fault(&response["error"]).unwrap_or_else(unknown));
            }
            _ => {}
        }
        Step::More
    }

    fn end(&mut self, _end: StreamEnd, _message: &Assembly) -> Step {
        Step::More
    }
}

fn done(response: &Value, message: &Assembly) -> Step {
    match response["status"].as_str() {
        Some("incomplete") => match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => Step::Failed(Fault {
                message: "the provider ended the answer: content_filter".to_owned(),
                kind: Some("content_filter".to_owned()),
            }),
            Some(_) | None => Step::Done(StopReason::Length),
        },
        Some("failed" | "cancelled") => {
            Step::Failed(fault(&response["error"]).unwrap_or_else(unknown))
        }
        Some(_) | None => Step::Done(message.stop_or_calls()),
    }
}

/// A call is named by its own name and its item's.
fn call_id(item: &Value) -> String {
    let call = item["call_id"].as_str().unwrap_or_default();
    match item["id"].as_str() {
        Some(id) if !id.is_empty() => format!("{call}|{id}"),
        Some(_) | None => call.to_owned(),
    }
}

/// What the provider wants back with a text: the item's name, and what the text is for.
fn signature(item: &Value) -> Option<String> {
    let id = item["id"].as_str()?;
    let mut signature = json!({"v": 1, "id": id});
    if let Some(phase @ ("commentary" | "final_answer")) = item["phase"].as_str() {
        signature["phase"] = json!(phase);
    }
    Some(signature.to_string())
}

fn thoughts(item: &Value) -> String {
    let texts = |name: &str| -> Vec<&str> {
        let parts = item[name].as_array().map(Vec::as_slice);
        let parts = parts.unwrap_or_default().iter();
        parts.filter_map(|part| part["text"].as_str()).collect()
    };
    let summary = texts("summary");
    if summary.is_empty() {
        texts("content").join("\n\n")
    } else {
        summary.join("\n\n")
    }
}

fn fault(error: &Value) -> Option<Fault> {
    let kind = error["code"].as_str().or(error["type"].as_str());
    Some(Fault {
        message: error["message"].as_str()?.to_owned(),
        kind: kind.filter(|kind| *kind != "error").map(str::to_owned),
    })
}

fn unknown() -> Fault {
    Fault::new("the provider reports an error")
}

/// Cached tokens are counted among those of the input; here they are counted on their own.
fn count(told: &Value, message: &mut Assembly) {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let usage = &mut message.usage;
    usage.cache_read = number(&told["input_tokens_details"]["cached_tokens"]);
    usage.input = number(&told["input_tokens"]).saturating_sub(usage.cache_read);
    usage.output = number(&told["output_tokens"]);
    total(usage);
}
