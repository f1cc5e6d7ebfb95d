//! The message that an answer becomes, block by block, and the events that tell of it.

use super::json::{self, BROKEN_ARGUMENTS, partial_json};
use crate::compat;
use crate::request::Api;
use crate::stream::StreamEvent;
use chitin_contract::CallEnds;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, StopReason, TextBlock, ThinkingBlock, ToolCallBlock,
    Usage,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// What is told of an answer, and what of it is kept; from the contract.
#[derive(Debug, Clone, Copy)]
pub(super) struct Telling {
    pub text_ends: bool,
    pub call_ends: CallEnds,
    pub calls: bool,
    pub arguments_kept_as: Option<&'static str>,
    pub commentary: bool,
}

/// The message so far. An index that was never given out, or is of another kind, is ignored.
#[derive(Debug)]
pub(super) struct Assembly {
    api: Api,
    provider: String,
    model: String,
    telling: Telling,
    most_parts: usize,
    parts: Vec<Part>,
    is_over: bool,
    is_started: bool,
    pub usage: Usage,
    pub response_id: Option<String>,
}

#[derive(Debug)]
struct Part {
    is_open: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text(TextBlock),
    Thinking(ThinkingBlock),
    Call(Call),
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    /// The arguments as they came.
    text: String,
    /// Arguments that came whole, unless some text comes.
    whole: Map<String, Value>,
}

impl Assembly {
    pub(super) fn new(
        api: Api,
        provider: &str,
        model: &str,
        telling: Telling,
        most_parts: usize,
    ) -> Self {
        Self {
            api,
            provider: provider.to_owned(),
            model: model.to_owned(),
            telling,
            most_parts,
            parts: Vec::new(),
            is_over: false,
            is_started: false,
            usage: Usage::default(),
            response_id: None,
        }
    }

    /// Tells whether the beginning of the answer was told.
    pub(super) const fn is_started(&self) -> bool {
        self.is_started
    }

    /// Tells whether there were more blocks than are taken.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn has_calls(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part.kind, Kind::Call(_)))
    }

    /// Returns the stop reason of an answer that ended well: what was called wants to be run.
    pub(super) fn stop_or_calls(&self) -> StopReason {
        if self.has_calls() {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        }
    }

    pub(super) fn start(&mut self, out: &mut Vec<StreamEvent>) {
        if !self.is_started {
            self.is_started = true;
            out.push(StreamEvent::Start);
        }
    }

    fn open(&mut self, kind: Kind, out: &mut Vec<StreamEvent>) -> usize {
        if self.parts.len() >= self.most_parts {
            self.is_over = true;
            return usize::MAX;
        }
        let index = self.parts.len();
        let begins = match &kind {
            Kind::Text(_) => Some(StreamEvent::TextStart { index }),
            Kind::Thinking(_) => Some(StreamEvent::ThinkingStart { index }),
            Kind::Call(_) => self
                .telling
                .calls
                .then_some(StreamEvent::ToolCallStart { index }),
        };
        self.parts.push(Part {
            is_open: true,
            kind,
        });
        if let Some(begins) = begins {
            self.start(out);
            out.push(begins);
        }
        index
    }

    pub(super) fn open_text(&mut self, out: &mut Vec<StreamEvent>) -> usize {
        self.open(Kind::Text(TextBlock::default()), out)
    }

    pub(super) fn open_thinking(
        &mut self,
        block: ThinkingBlock,
        out: &mut Vec<StreamEvent>,
    ) -> usize {
        self.open(Kind::Thinking(block), out)
    }

    pub(super) fn open_call(&mut self, id: &str, name: &str, out: &mut Vec<StreamEvent>) -> usize {
        let call = Call {
            id: id.to_owned(),
            name: name.to_owned(),
            ..Call::default()
        };
        self.open(Kind::Call(call), out)
    }

    fn open_part(&mut self, index: usize) -> Option<&mut Kind> {
        let part = self.parts.get_mut(index)?;
        part.is_open.then_some(&mut part.kind)
    }

    /// Adds to a block of text, of thoughts, or to the arguments of a call.
    pub(super) fn add(&mut self, index: usize, delta: &str, out: &mut Vec<StreamEvent>) {
        if delta.is_empty() {
            return;
        }
        let tells_calls = self.telling.calls;
        let Some(kind) = self.open_part(index) else {
            return;
        };
        let delta = delta.to_owned();
        match kind {
            Kind::Text(block) => {
                block.text.push_str(&delta);
                out.push(StreamEvent::TextDelta { index, delta });
            }
            Kind::Thinking(block) => {
                block.thinking.push_str(&delta);
                out.push(StreamEvent::ThinkingDelta { index, delta });
            }
            Kind::Call(call) => {
                call.text.push_str(&delta);
                if tells_calls {
                    out.push(StreamEvent::ToolCallDelta { index, delta });
                }
            }
        }
    }

    /// Puts the whole text of a block in place of what came in pieces; what is only missing at its end is told.
    pub(super) fn settle(&mut self, index: usize, whole: &str, out: &mut Vec<StreamEvent>) {
        let missing = match self.open_part(index) {
            Some(Kind::Text(TextBlock { text, .. }) | Kind::Call(Call { text, .. })) => {
                whole.strip_prefix(text.as_str())
            }
            Some(Kind::Thinking(block)) => whole.strip_prefix(block.thinking.as_str()),
            None => return,
        };
        if let Some(missing) = missing {
            self.add(index, missing, out);
            return;
        }
        let whole = whole.to_owned();
        match self.open_part(index) {
            Some(Kind::Text(TextBlock { text, .. }) | Kind::Call(Call { text, .. })) => {
                *text = whole;
            }
            Some(Kind::Thinking(block)) => block.thinking = whole,
            None => {}
        }
    }

    /// Changes what is known of a block of text.
    pub(super) fn text_mut(&mut self, index: usize) -> Option<&mut TextBlock> {
        match self.open_part(index)? {
            Kind::Text(block) => Some(block),
            Kind::Thinking(_) | Kind::Call(_) => None,
        }
    }

    /// Changes what is known of a block of thoughts.
    pub(super) fn thinking_mut(&mut self, index: usize) -> Option<&mut ThinkingBlock> {
        match self.open_part(index)? {
            Kind::Thinking(block) => Some(block),
            Kind::Text(_) | Kind::Call(_) => None,
        }
    }

    /// Fills in what came late of a call.
    pub(super) fn name_call(&mut self, index: usize, id: &str, name: &str) {
        if let Some(Kind::Call(call)) = self.open_part(index) {
            if !id.is_empty() {
                id.clone_into(&mut call.id);
            }
            if !name.is_empty() {
                name.clone_into(&mut call.name);
            }
        }
    }

    /// Gives a call arguments that came whole; they count unless some text comes.
    pub(super) fn whole_arguments(&mut self, index: usize, arguments: &Map<String, Value>) {
        if let Some(Kind::Call(call)) = self.open_part(index) {
            call.whole.clone_from(arguments);
        }
    }

    /// Returns the provider's name of an open call.
    pub(super) fn call_id(&self, index: usize) -> Option<&str> {
        let part = self.parts.get(index).filter(|part| part.is_open)?;
        match &part.kind {
            Kind::Call(call) => Some(&call.id),
            Kind::Text(_) | Kind::Thinking(_) => None,
        }
    }

    /// A block is complete.
    pub(super) fn close(&mut self, index: usize, out: &mut Vec<StreamEvent>) {
        let telling = self.telling;
        let Some(part) = self.parts.get_mut(index).filter(|part| part.is_open) else {
            return;
        };
        part.is_open = false;
        if let Kind::Call(call) = &mut part.kind
            && call.id.trim().is_empty()
        {
            // Some servers give none. Without one the result could not be told to the model, which would call again and again.
            call.id = format!("call_{index}");
        }
        match &part.kind {
            Kind::Text(block) if telling.text_ends => out.push(StreamEvent::TextEnd {
                index,
                text: block.text.clone(),
            }),
            Kind::Thinking(block) if telling.text_ends => out.push(StreamEvent::ThinkingEnd {
                index,
                text: block.thinking.clone(),
            }),
            Kind::Call(call) if telling.calls && telling.call_ends == CallEnds::AtOnce => {
                out.push(StreamEvent::ToolCallEnd {
                    index,
                    call: call.complete(telling),
                });
            }
            Kind::Text(_) | Kind::Thinking(_) | Kind::Call(_) => {}
        }
    }

    /// Every block is complete.
    pub(super) fn close_all(&mut self, out: &mut Vec<StreamEvent>) {
        for index in 0..self.parts.len() {
            self.close(index, out);
        }
    }

    /// The answer is complete.
    pub(super) fn done(&mut self, stop_reason: StopReason, out: &mut Vec<StreamEvent>) {
        self.close_all(out);
        if self.telling.calls && self.telling.call_ends == CallEnds::Last {
            for (index, part) in self.parts.iter().enumerate() {
                if let Kind::Call(call) = &part.kind {
                    let call = call.complete(self.telling);
                    out.push(StreamEvent::ToolCallEnd { index, call });
                }
            }
        }
        if self.telling.commentary && self.has_calls() {
            self.mark_commentary();
        }
        out.push(StreamEvent::Done(Box::new(self.message(stop_reason, None))));
    }

    /// The answer ended before it was complete.
    pub(super) fn failed(&self, stop_reason: StopReason, error: &Fault) -> StreamEvent {
        StreamEvent::Failed(Box::new(self.message(stop_reason, Some(error))))
    }

    fn message(&self, stop_reason: StopReason, error: Option<&Fault>) -> AssistantMessage {
        let blocks = self.parts.iter().map(|part| match &part.kind {
            Kind::Text(block) => Block::Text(block.clone()),
            Kind::Thinking(block) => Block::Thinking(block.clone()),
            Kind::Call(call) if part.is_open => Block::ToolCall(call.partial()),
            Kind::Call(call) => Block::ToolCall(call.complete(self.telling)),
        });
        let mut extra = Extra::new();
        if let Some(kind) = error.and_then(|error| error.kind.as_ref()) {
            extra.insert("errorType".to_owned(), json!(kind));
        }
        AssistantMessage {
            content: Content::Blocks(blocks.collect()),
            api: Some(self.api.name().to_owned()),
            provider: Some(self.provider.clone()),
            model: Some(self.model.clone()),
            usage: Some(self.usage),
            stop_reason: Some(stop_reason),
            error_message: error.map(|error| error.message.clone()),
            timestamp: None,
            response_id: self.response_id.clone(),
            extra,
        }
    }

    /// Marks text that comes with calls as no part of the answer to the user. The name that the mark wants is made of the
    /// answer, so that the same answer gives the same mark.
    fn mark_commentary(&mut self) {
        let mut count = 0;
        let answer = self.response_id.clone().unwrap_or_default();
        for part in &mut self.parts {
            let Kind::Text(block) = &mut part.kind else {
                continue;
            };
            if block.text_signature.is_none() && !block.text.trim().is_empty() {
                let digest = hex(&[answer.as_bytes(), block.text.as_bytes()]);
                let id = format!("commentary-{count}-{digest}");
                let mark = json!({"v": 1, "id": id, "phase": "commentary"});
                block.text_signature = Some(mark.to_string());
            }
            count += usize::from(block.text_signature.is_some());
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// In words.
    pub message: String,
    /// The provider's name for it.
    pub kind: Option<String>,
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: None,
        }
    }
}

impl Call {
    fn block(&self, arguments: Map<String, Value>) -> ToolCallBlock {
        ToolCallBlock {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments: Some(Value::Object(arguments)),
            extra: Extra::new(),
        }
    }

    /// The call as far as it came.
    fn partial(&self) -> ToolCallBlock {
        let arguments = match partial_json(&self.text) {
            Value::Object(fields) => fields,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        let mut block = self.block(arguments);
        let text = Value::String(self.text.clone());
        block
            .extra
            .insert(compat::PARTIAL_ARGUMENTS.to_owned(), text);
        block
    }

    fn complete(&self, telling: Telling) -> ToolCallBlock {
        if self.text.is_empty() {
            return self.block(self.whole.clone());
        }
        let text = || Value::String(self.text.clone());
        let Some(arguments) = json::arguments(&self.text) else {
            let mut block = self.block(Map::new());
            block.extra.insert(BROKEN_ARGUMENTS.to_owned(), text());
            return block;
        };
        let mut block = self.block(arguments);
        if let Some(name) = telling.arguments_kept_as {
            block.extra.insert(name.to_owned(), text());
        }
        block
    }
}

/// Returns 24 hexadecimal digits that stand for some bytes.
pub(super) fn hex(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex::encode(&hasher.finalize()[..12])
}
