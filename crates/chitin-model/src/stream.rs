//! What an answer is made of while it comes in (P2).

use chitin_protocol::message::{AssistantMessage, ToolCallBlock};

/// One step of an answer. `index` is the block's place in the message.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The provider began to answer.
    Start,
    /// A block of text begins.
    TextStart {
        /// The block.
        index: usize,
    },
    /// Some text.
    TextDelta {
        /// The block.
        index: usize,
        /// The text.
        delta: String,
    },
    /// A block of text is complete.
    TextEnd {
        /// The block.
        index: usize,
        /// All of it.
        text: String,
    },
    /// A block of thoughts begins.
    ThinkingStart {
        /// The block.
        index: usize,
    },
    /// Some thoughts.
    ThinkingDelta {
        /// The block.
        index: usize,
        /// The text.
        delta: String,
    },
    /// A block of thoughts is complete.
    ThinkingEnd {
        /// The block.
        index: usize,
        /// All of it.
        text: String,
    },
    /// A call of a tool begins.
    ToolCallStart {
        /// The block.
        index: usize,
    },
    /// Some of a call's arguments, as JSON text that is not complete yet.
    ToolCallDelta {
        /// The block.
        index: usize,
        /// The text.
        delta: String,
    },
    /// A call of a tool is complete.
    ToolCallEnd {
        /// The block.
        index: usize,
        /// The call.
        call: ToolCallBlock,
    },
    /// The answer is complete.
    Done(Box<AssistantMessage>),
    /// The answer ended in an error or was stopped; what came before is in it (P3).
    Failed(Box<AssistantMessage>),
}

impl StreamEvent {
    /// Returns the event's name as it is recorded.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::TextStart { .. } => "text_start",
            Self::TextDelta { .. } => "text_delta",
            Self::TextEnd { .. } => "text_end",
            Self::ThinkingStart { .. } => "thinking_start",
            Self::ThinkingDelta { .. } => "thinking_delta",
            Self::ThinkingEnd { .. } => "thinking_end",
            Self::ToolCallStart { .. } => "toolcall_start",
            Self::ToolCallDelta { .. } => "toolcall_delta",
            Self::ToolCallEnd { .. } => "toolcall_end",
            Self::Done(_) => "done",
            Self::Failed(_) => "error",
        }
    }
}
