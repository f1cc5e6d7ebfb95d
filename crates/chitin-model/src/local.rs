//! What models without a network share: a request as plain JSON, and an answer that is played step by step.

use crate::error::ModelError;
use crate::http::digest;
use crate::model::{EventStream, Prepared};
use crate::request::{Api, ModelRequest};
use crate::stream::StreamEvent;
use chitin_protocol::message::{
    AssistantMessage, Block, Content, Extra, Message, StopReason, TextBlock, ThinkingBlock,
    ToolCallBlock, Usage,
};
use chitin_protocol::tool::ToolSpec;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A request as plain JSON, in no provider's words.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) tools: &'a [ToolSpec],
    pub(crate) messages: &'a [Message],
    pub(crate) max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<&'a str>,
}

/// The same, read back from the bytes.
#[derive(Debug, Deserialize)]
pub(crate) struct Given {
    pub(crate) system: String,
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) messages: Vec<Message>,
}

impl<'a> Asked<'a> {
    pub(crate) const fn of(request: &ModelRequest<'a>) -> Self {
        Self {
            model: request.model,
            system: request.system,
            tools: request.tools,
            messages: request.messages,
            max_tokens: request.max_tokens,
            thinking: request.thinking,
        }
    }
}

/// Builds a request for a model that is not behind a network.
pub(crate) fn prepare(
    api: Api,
    url: String,
    request: &ModelRequest<'_>,
) -> Result<Prepared, ModelError> {
    let body = serde_json::to_vec(&Asked::of(request))
        .map_err(|error| ModelError::Unbuildable(format!("the request is not JSON: {error}")))?;
    Ok(Prepared {
        api,
        method: "POST",
        url,
        headers: Vec::new(),
        secret_headers: Vec::new(),
        digest: digest(&body),
        body: body.into(),
        rules: *request.rules,
        tee: None,
        gone_out: None,
    })
}

/// Reads a request back.
pub(crate) fn given(prepared: &Prepared) -> Result<Given, ModelError> {
    serde_json::from_slice(&prepared.body)
        .map_err(|error| ModelError::Unbuildable(format!("the request cannot be read: {error}")))
}

/// Makes an answer of its blocks.
pub(crate) fn answer(
    provider: &str,
    model: &str,
    api: Api,
    blocks: Vec<Block>,
    usage: Usage,
) -> AssistantMessage {
    let calls = blocks
        .iter()
        .any(|block| matches!(block, Block::ToolCall(_)));
    AssistantMessage {
        content: Content::Blocks(blocks),
        api: Some(api.name().to_owned()),
        provider: Some(provider.to_owned()),
        model: Some(model.to_owned()),
        usage: Some(usage),
        stop_reason: Some(if calls {
            StopReason::ToolUse
        } else {
            StopReason::Stop
        }),
        error_message: None,
        timestamp: None,
        response_id: None,
        extra: Extra::new(),
    }
}

/// Estimates what an answer took: four characters to a token, as people reckon.
pub(crate) fn estimate(body: &[u8], blocks: &[Block]) -> Usage {
    let written: usize = blocks
        .iter()
        .map(|block| match block {
            Block::Text(TextBlock { text, .. }) => text.len(),
            Block::Thinking(ThinkingBlock { thinking, .. }) => thinking.len(),
            Block::ToolCall(call) => {
                call.name.len() + call.arguments.as_ref().map_or(0, |a| a.to_string().len())
            }
            Block::Image(_) | Block::Other(_) => 0,
        })
        .sum();
    let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    let (input, output) = (tokens(body.len()), tokens(written));
    Usage {
        input,
        output,
        total_tokens: input + output,
        ..Usage::default()
    }
}

/// Returns an answer as the steps in which it would have come.
pub(crate) fn steps(message: AssistantMessage) -> Vec<StreamEvent> {
    let mut steps = vec![StreamEvent::Start];
    for (index, block) in message.content.blocks().iter().enumerate() {
        match block {
            Block::Text(TextBlock { text, .. }) => {
                steps.push(StreamEvent::TextStart { index });
                steps.extend(pieces(text).map(|delta| StreamEvent::TextDelta { index, delta }));
                let text = text.clone();
                steps.push(StreamEvent::TextEnd { index, text });
            }
            Block::Thinking(ThinkingBlock { thinking, .. }) => {
                steps.push(StreamEvent::ThinkingStart { index });
                let deltas = pieces(thinking);
                steps.extend(deltas.map(|delta| StreamEvent::ThinkingDelta { index, delta }));
                let text = thinking.clone();
                steps.push(StreamEvent::ThinkingEnd { index, text });
            }
            Block::ToolCall(call) => {
                steps.push(StreamEvent::ToolCallStart { index });
                let arguments = call.arguments.as_ref().map(ToString::to_string);
                let delta = arguments.unwrap_or_default();
                steps.push(StreamEvent::ToolCallDelta { index, delta });
                let call = call.clone();
                steps.push(StreamEvent::ToolCallEnd { index, call });
            }
            Block::Image(_) | Block::Other(_) => {}
        }
    }
    steps.push(match message.stop_reason {
        Some(StopReason::Error | StopReason::Aborted) => StreamEvent::Failed(Box::new(message)),
        Some(
            StopReason::Stop | StopReason::ToolUse | StopReason::Length | StopReason::Other(_),
        )
        | None => StreamEvent::Done(Box::new(message)),
    });
    steps
}

/// Cuts a text into pieces of a few words.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    // A long text shall not become a million steps.
    let least = (text.len() / 1000).max(16);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let from = rest.floor_char_boundary(least);
        let end = rest[from..]
            .find(' ')
            .map_or(rest.len(), |space| from + space + 1);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece.to_owned())
    })
}

/// Plays the steps of an answer. When the token is cancelled, the answer ends with what had come.
pub(crate) fn play(
    steps: Vec<StreamEvent>,
    delay: Duration,
    cancel: CancellationToken,
) -> EventStream {
    let state = Play {
        steps: steps.into(),
        delay,
        shown: Vec::new(),
    };
    Box::pin(stream::unfold(
        (state, cancel),
        async |(mut play, cancel)| {
            let event = play.next(&cancel).await?;
            Some((event, (play, cancel)))
        },
    ))
}

struct Play {
    steps: VecDeque<StreamEvent>,
    delay: Duration,
    /// What was shown of the answer so far.
    shown: Vec<Block>,
}

impl Play {
    async fn next(
        &mut self,
        cancel: &CancellationToken,
    ) -> Option<Result<StreamEvent, ModelError>> {
        if self.steps.is_empty() {
            return None;
        }
        let delay = std::mem::take(&mut self.delay);
        // Others may want to do something between two steps, such as to cancel this.
        tokio::select! {
            biased;
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(delay), if !delay.is_zero() => {}
            () = tokio::task::yield_now(), if delay.is_zero() => {}
        }
        if cancel.is_cancelled() {
            return self.abort();
        }
        let event = self.steps.pop_front()?;
        self.show(&event);
        Some(Ok(event))
    }

    fn abort(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        let last = std::mem::take(&mut self.steps).pop_back()?;
        if self.shown.is_empty() {
            return Some(Err(ModelError::Cancelled));
        }
        Some(match last {
            StreamEvent::Done(mut message) | StreamEvent::Failed(mut message) => {
                message.content = Content::Blocks(std::mem::take(&mut self.shown));
                message.stop_reason = Some(StopReason::Aborted);
                Ok(StreamEvent::Failed(message))
            }
            _ => Err(ModelError::Cancelled),
        })
    }

    fn show(&mut self, event: &StreamEvent) {
        match (event, self.shown.last_mut()) {
            (StreamEvent::TextStart { .. }, _) => self.shown.push(Block::text("")),
            (StreamEvent::ThinkingStart { .. }, _) => {
                self.shown.push(Block::Thinking(ThinkingBlock::default()));
            }
            (StreamEvent::TextDelta { delta, .. }, Some(Block::Text(block))) => {
                block.text.push_str(delta);
            }
            (StreamEvent::ThinkingDelta { delta, .. }, Some(Block::Thinking(block))) => {
                block.thinking.push_str(delta);
            }
            (StreamEvent::ToolCallEnd { call, .. }, _) => {
                self.shown.push(Block::ToolCall(ToolCallBlock::clone(call)));
            }
            _ => {}
        }
    }
}
