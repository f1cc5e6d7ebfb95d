//! A model that reads its replies from a script: JSON Lines, described in [`chitin_protocol::script`].

use crate::error::ModelError;
use crate::local;
use crate::model::{EventStream, Model, Prepared};
use crate::request::{Api, ModelRequest};
use crate::wire;
use chitin_guard::plain_file;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, StopReason, ThinkingBlock, ToolCallBlock, Usage,
};
use chitin_protocol::script::{
    self, LARGEST_SCRIPT, ScriptCall, ScriptError, ScriptQueue, ScriptReply,
};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A model that reads its replies from a script. Each reply is used once, unless it says otherwise.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: ScriptQueue,
    asked: usize,
}

/// Its provider.
const PROVIDER: &str = "scripted";

impl ScriptedModel {
    /// Reads a script from a file.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let most = u64::try_from(LARGEST_SCRIPT).unwrap_or(u64::MAX);
        let text = plain_file::read(path, most)
            .map_err(|error| ModelError::Unscripted(error.to_string()))?;
        let replies = script::parse(&text).map_err(|problem| {
            ModelError::Unscripted(format!("`{}`: {problem}", path.display()))
        })?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self::new(name.to_string_lossy(), replies))
    }

    /// Takes replies.
    pub fn new(name: impl Into<String>, replies: Vec<ScriptReply>) -> Self {
        Self {
            name: name.into(),
            state: Mutex::new(State {
                queue: ScriptQueue::new(replies),
                asked: 0,
            }),
        }
    }

    /// Chooses a reply, and counts.
    fn next(&self, prepared: &Prepared) -> Result<(ScriptReply, usize), ModelError> {
        let request = String::from_utf8_lossy(&prepared.body);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked += 1;
        let number = state.asked;
        let reply = state.queue.next(&request).ok_or_else(|| {
            ModelError::Unscripted(format!(
                "the script `{}` has {} replies and no more for request {number}",
                self.name,
                state.queue.len()
            ))
        })?;
        match reply.expect.as_ref().and_then(|e| e.complaint(&request)) {
            Some(complaint) => Err(ModelError::Unscripted(format!(
                "request {number} is not what the script `{}` expects: {complaint}",
                self.name
            ))),
            None => Ok((reply, number)),
        }
    }

    fn answer(&self, reply: &ScriptReply, prepared: &Prepared, number: usize) -> AssistantMessage {
        let blocks = blocks(reply, number);
        let usage = reply.usage.map_or_else(
            || local::estimate(&prepared.body, &blocks),
            |usage| Usage {
                input: usage.input,
                output: usage.output,
                cache_read: usage.cache_read,
                cache_write: usage.cache_write,
                total_tokens: usage.input + usage.output + usage.cache_read + usage.cache_write,
                ..Usage::default()
            },
        );
        let mut message = local::answer(PROVIDER, &self.name, Api::Scripted, blocks, usage);
        if let Some(reason) = &reply.stop_reason {
            message.stop_reason = Some(reason.clone());
        }
        if let Some(most) = reply.cut_after {
            cut(&mut message, most);
        }
        message
    }
}

impl Model for ScriptedModel {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn api(&self) -> Api {
        Api::Scripted
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        let request = ModelRequest {
            model: &self.name,
            ..*request
        };
        local::prepare(Api::Scripted, format!("scripted:{}", self.name), &request)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let (reply, number) = self.next(&prepared)?;
            let delay = Duration::from_millis(reply.delay_ms.unwrap_or(0));
            if let Some(error) = &reply.error {
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(ModelError::Cancelled),
                    () = tokio::time::sleep(delay) => {}
                }
                return Err(failure(PROVIDER, error));
            }
            let steps = local::steps(self.answer(&reply, &prepared, number));
            Ok(local::play(steps, delay, cancel))
        })
    }
}

/// Makes the error that a provider would have made.
pub(crate) fn failure(provider: &str, error: &ScriptError) -> ModelError {
    let retry_after = crate::retry::retry_after(|name| match name {
        "retry-after" => error.retry_after.as_deref(),
        _ => None,
    });
    let body = json!({"error": {"message": error.message}}).to_string();
    wire::classify(error.status, retry_after, body.as_bytes(), provider)
}

fn blocks(reply: &ScriptReply, number: usize) -> Vec<Block> {
    let thinking = reply.thinking.iter().map(|thinking| {
        Block::Thinking(ThinkingBlock {
            thinking: thinking.clone(),
            ..ThinkingBlock::default()
        })
    });
    let text = reply.text.iter().map(|text| Block::text(text.clone()));
    let calls = reply.tool_calls.iter().enumerate().map(|(index, call)| {
        Block::ToolCall(ToolCallBlock {
            id: call
                .id
                .clone()
                .unwrap_or_else(|| format!("scripted-{number}-{index}")),
            name: call.name.clone(),
            arguments: Some(arguments(call).unwrap_or_else(|_| json!({}))),
            extra: broken(call),
        })
    });
    thinking.chain(text).chain(calls).collect()
}

fn arguments(call: &ScriptCall) -> Result<Value, String> {
    let text = call.arguments_as_sent();
    match serde_json::from_str(&text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) | Err(_) => Err(text),
    }
}

/// Arguments that are no JSON object are passed on as they were written, as with a provider.
fn broken(call: &ScriptCall) -> Extra {
    let text = arguments(call).err();
    text.map(|text| (wire::BROKEN_ARGUMENTS.to_owned(), Value::from(text)))
        .into_iter()
        .collect()
}

/// Breaks an answer off after so many characters of text.
fn cut(message: &mut AssistantMessage, most: usize) {
    let mut left = most;
    let mut kept = Vec::new();
    for block in message.content.blocks() {
        match block {
            Block::Text(block) => {
                let text: String = block.text.chars().take(left).collect();
                left -= text.chars().count();
                kept.push(Block::text(text));
                if left == 0 {
                    break;
                }
            }
            Block::Thinking(_) => kept.push(block.clone()),
            Block::ToolCall(_) | Block::Image(_) | Block::Other(_) => {}
        }
    }
    message.content = Content::Blocks(kept);
    message.stop_reason = Some(StopReason::Error);
    message.error_message = Some(format!("the answer broke off after {most} characters"));
}
