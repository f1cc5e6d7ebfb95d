//! The file that recordings are kept in: JSON Lines, one exchange to a line.

use crate::error::ModelError;
use crate::stream::StreamEvent;
use chitin_protocol::message::{AssistantMessage, Message, ToolCallBlock};
use chitin_protocol::script::ScriptError;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One exchange.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exchange {
    /// The SHA-256 of the normalised request.
    pub(crate) key: String,
    /// The model that answered, as `provider/name`.
    pub(crate) model: String,
    /// The SHA-256 of the bytes that were sent.
    pub(crate) digest: String,
    /// The normalised request.
    pub(crate) request: Value,
    /// The steps of the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<Step>,
    /// What came in place of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<ScriptError>,
}

/// A step of an answer as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Step {
    Start,
    TextStart {
        index: usize,
    },
    TextDelta {
        index: usize,
        delta: String,
    },
    TextEnd {
        index: usize,
        text: String,
    },
    ThinkingStart {
        index: usize,
    },
    ThinkingDelta {
        index: usize,
        delta: String,
    },
    ThinkingEnd {
        index: usize,
        text: String,
    },
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        index: usize,
    },
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta {
        index: usize,
        delta: String,
    },
    #[serde(rename = "toolcall_end")]
    ToolCallEnd {
        index: usize,
        call: ToolCallBlock,
    },
    Done {
        message: Message,
    },
    #[serde(rename = "error")]
    Failed {
        message: Message,
    },
}

impl From<&StreamEvent> for Step {
    fn from(event: &StreamEvent) -> Self {
        let message = |message: &AssistantMessage| Message::Assistant(message.clone());
        match event.clone() {
            StreamEvent::Start => Self::Start,
            StreamEvent::TextStart { index } => Self::TextStart { index },
            StreamEvent::TextDelta { index, delta } => Self::TextDelta { index, delta },
            StreamEvent::TextEnd { index, text } => Self::TextEnd { index, text },
            StreamEvent::ThinkingStart { index } => Self::ThinkingStart { index },
            StreamEvent::ThinkingDelta { index, delta } => Self::ThinkingDelta { index, delta },
            StreamEvent::ThinkingEnd { index, text } => Self::ThinkingEnd { index, text },
            StreamEvent::ToolCallStart { index } => Self::ToolCallStart { index },
            StreamEvent::ToolCallDelta { index, delta } => Self::ToolCallDelta { index, delta },
            StreamEvent::ToolCallEnd { index, call } => Self::ToolCallEnd { index, call },
            StreamEvent::Done(done) => Self::Done {
                message: message(&done),
            },
            StreamEvent::Failed(failed) => Self::Failed {
                message: message(&failed),
            },
        }
    }
}

impl Step {
    /// Returns the event; nothing when the message is no answer.
    pub(crate) fn into_event(self) -> Option<StreamEvent> {
        let answer = |message| match message {
            Message::Assistant(message) => Some(Box::new(message)),
            Message::User(_) | Message::ToolResult(_) | Message::Other(_) => None,
        };
        Some(match self {
            Self::Start => StreamEvent::Start,
            Self::TextStart { index } => StreamEvent::TextStart { index },
            Self::TextDelta { index, delta } => StreamEvent::TextDelta { index, delta },
            Self::TextEnd { index, text } => StreamEvent::TextEnd { index, text },
            Self::ThinkingStart { index } => StreamEvent::ThinkingStart { index },
            Self::ThinkingDelta { index, delta } => StreamEvent::ThinkingDelta { index, delta },
            Self::ThinkingEnd { index, text } => StreamEvent::ThinkingEnd { index, text },
            Self::ToolCallStart { index } => StreamEvent::ToolCallStart { index },
            Self::ToolCallDelta { index, delta } => StreamEvent::ToolCallDelta { index, delta },
            Self::ToolCallEnd { index, call } => StreamEvent::ToolCallEnd { index, call },
            Self::Done { message } => StreamEvent::Done(answer(message)?),
            Self::Failed { message } => StreamEvent::Failed(answer(message)?),
        })
    }
}

/// Writes an error down with the status that makes the same error again.
pub(crate) fn written(error: &ModelError) -> ScriptError {
    let status = match error {
        ModelError::Unauthorized { .. } => 401,
        ModelError::RateLimited { .. } => 429,
        ModelError::TooLong { .. } => 413,
        ModelError::Rejected { status, .. } | ModelError::Upstream { status, .. } => *status,
        ModelError::Unreachable { .. } => 502,
        ModelError::TimedOut { .. } => 504,
        ModelError::Malformed { .. } => 500,
        ModelError::Unscripted(_) | ModelError::Unbuildable(_) | ModelError::Cancelled => 400,
    };
    let mut error = error.clone();
    let seconds = error
        .retry_after()
        .map(|wait| wait.as_secs_f64().to_string());
    let said = error.message_mut().map(std::mem::take);
    ScriptError {
        status,
        message: said.unwrap_or_else(|| error.to_string()),
        retry_after: seconds,
    }
}
