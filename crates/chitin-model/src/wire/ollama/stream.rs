//! The answer of Ollama's chat (P6).

use crate::compat;
use crate::stream::StreamEvent;
use crate::wire::assembly::{Assembly, Fault, hex};
use crate::wire::decode::{Machine, Step, StreamEnd};
use crate::wire::total;
use chitin_contract::OllamaRules;
use chitin_protocol::message::{StopReason, ThinkingBlock};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Reads the lines of an answer.
#[derive(Debug)]
pub(super) struct Lines {
    starts_late: bool,
    knows_length: bool,
    text: Option<usize>,
    thoughts: Option<usize>,
    /// Calls wait for the end: the last line may say that there was no room for them.
    calls: Vec<Held>,
    /// All lines so far. Names of calls are made of them, so that a recorded answer gives the same names again.
    seen: Sha256,
}

#[derive(Debug)]
struct Held {
    id: String,
    name: String,
    arguments: String,
}

impl Lines {
    pub(super) fn new(rules: &OllamaRules) -> Self {
        Self {
            starts_late: rules.starts_late,
            knows_length: rules.knows_length,
            text: None,
            thoughts: None,
            calls: Vec::new(),
            seen: Sha256::new(),
        }
    }

    fn hold(&mut self, call: &Value) {
        let function = &call["function"];
        let given = call["id"].as_str().map(str::trim).unwrap_or_default();
        let id = if given.is_empty() {
            let seen = self.seen.clone().finalize();
            let count = self.calls.len().to_le_bytes();
            format!("{}{}", compat::OLLAMA_CALL, hex(&[&seen, &count]))
        } else {
            given.to_owned()
        };
        self.calls.push(Held {
            id,
            name: function["name"].as_str().unwrap_or_default().to_owned(),
            arguments: match &function["arguments"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                whole
                @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_)) => {
                    whole.to_string()
                }
            },
        });
    }

    fn close(&mut self, message: &mut Assembly, out: &mut Vec<StreamEvent>) {
        for place in [self.thoughts.take(), self.text.take()]
            .into_iter()
            .flatten()
        {
            message.close(place, out);
        }
    }

    fn done(&mut self, frame: &Value, message: &mut Assembly, out: &mut Vec<StreamEvent>) -> Step {
        count(frame, message);
        self.close(message, out);
        if self.knows_length && frame["done_reason"] == "length" {
            return Step::Done(StopReason::Length);
        }
        for call in std::mem::take(&mut self.calls) {
            let place = message.open_call(&call.id, &call.name, out);
            message.add(place, &call.arguments, out);
            message.close(place, out);
        }
        Step::Done(message.stop_or_calls())
    }
}

impl Machine for Lines {
    fn frame(
        &mut self,
        frame: &Value,
        text: &str,
        message: &mut Assembly,
        out: &mut Vec<StreamEvent>,
    ) -> Step {
        if let Some(error) = frame["error"].as_str() {
            return Step::Failed(Fault::new(error));
        }
        let said = &frame["message"];
        let is_done = frame["done"] == true;
        if !said.is_object() && !is_done {
            return Step::More;
        }
        if !self.starts_late {
            message.start(out);
        }
        self.seen.update(text.as_bytes());
        let thoughts = said["thinking"].as_str().or(said["reasoning"].as_str());
        if let Some(thoughts) = thoughts.filter(|text| !text.is_empty()) {
            let place = *self
                .thoughts
                .get_or_insert_with(|| message.open_thinking(ThinkingBlock::default(), out));
            message.add(place, thoughts, out);
        }
        if let Some(words) = said["content"].as_str().filter(|text| !text.is_empty()) {
            if let Some(place) = self.thoughts.take() {
                message.close(place, out);
            }
            let place = *self.text.get_or_insert_with(|| message.open_text(out));
            message.add(place, words, out);
        }
        let calls = said["tool_calls"].as_array();
        if let Some(calls) = calls.filter(|calls| !calls.is_empty()) {
            self.close(message, out);
            for call in calls {
                self.hold(call);
            }
        }
        if is_done {
            return self.done(frame, message, out);
        }
        Step::More
    }

    fn end(&mut self, _end: StreamEnd, _message: &Assembly) -> Step {
        Step::More
    }
}

/// Tokens from the cache are counted among those of the prompt; here they are counted on their own.
fn count(frame: &Value, message: &mut Assembly) {
    let number = |name: &str| frame[name].as_u64().unwrap_or(0);
    let usage = &mut message.usage;
    let prompt = number("prompt_eval_count");
    usage.cache_read = number("prompt_eval_cached_count").min(prompt);
    usage.input = prompt - usage.cache_read;
    usage.output = number("eval_count");
    total(usage);
}
