//! What a turn loop tells the journal. All of it is borrowed: a journal that is off copies nothing.

use super::fragments::InjectedFile;
use crate::limits::Spending;
use chitin_model::{Prepared, StreamEvent};
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_protocol::message::{
    AssistantMessage, Message, StopReason, ToolCallBlock, ToolResultMessage,
};
use chitin_protocol::tool::ToolSpec;
use serde_json::Value;
use std::path::Path;

/// One moment of a turn, in the order in which a turn has them.
#[derive(Debug, Clone, Copy)]
pub enum TurnMoment<'a> {
    /// A turn begins.
    RunStarted(&'a RunStarted<'a>),
    /// The session was read.
    SessionLoaded {
        /// The conversation so far.
        messages: &'a [Message],
        /// The system prompt of this turn.
        system: &'a str,
    },
    /// What cannot be sent was repaired or taken out.
    SessionSanitized {
        /// What is left.
        messages: &'a [Message],
    },
    /// What is too old was left out.
    SessionLimited {
        /// What is left.
        messages: &'a [Message],
    },
    /// The user's words are about to be added.
    PromptBefore {
        /// The words.
        prompt: &'a str,
        /// The conversation before them.
        messages: &'a [Message],
    },
    /// Pictures were looked for in the user's words.
    PromptImages {
        /// The words.
        prompt: &'a str,
        /// The conversation before them.
        messages: &'a [Message],
        /// How many there are.
        images: usize,
    },
    /// A request is on its way. To be told once sending has begun, never before: nothing that the journal does may
    /// delay the first byte.
    RequestSent(&'a RequestSent<'a>),
    /// A step of an answer came in.
    Streamed(&'a StreamEvent),
    /// An answer is complete, or as complete as it gets.
    Answered {
        /// Which call of the turn, from 1.
        call: u32,
        /// The answer.
        message: &'a AssistantMessage,
    },
    /// A request was not answered.
    NotAnswered {
        /// Which call of the turn, from 1.
        call: u32,
        /// Why.
        error: &'a str,
    },
    /// A tool is about to run.
    ToolCalled(&'a ToolCallBlock),
    /// A tool is done.
    ToolDone {
        /// What it gave back.
        result: &'a ToolResultMessage,
        /// What it did, in a few words.
        summary: Option<&'a str>,
    },
    /// A rule of the workspace refused the message or the reply.
    Refused {
        /// Which of the two.
        part: RefusedPart,
        /// The rule.
        by: &'a RuleRefusal,
    },
    /// The conversation was put into a summary.
    Compacted,
    /// The conversation after the turn.
    SessionAfter {
        /// All of it that the model would see next.
        messages: &'a [Message],
    },
    /// The turn is over.
    RunEnded(&'a RunEnded<'a>),
}

/// A turn begins.
#[derive(Debug, Clone, Copy)]
pub struct RunStarted<'a> {
    /// The turn's own name.
    pub run_id: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// The session's key.
    pub session_key: &'a str,
    /// The agent.
    pub agent_id: &'a str,
    /// The workspace.
    pub workspace: &'a Path,
    /// The transcript, where it is a file.
    pub session_file: Option<&'a Path>,
    /// The provider.
    pub provider: &'a str,
    /// The model's name at its provider.
    pub model: &'a str,
    /// The wire format.
    pub api: chitin_model::Api,
    /// How deeply the model is asked to think.
    pub thinking: Option<&'a str>,
    /// The tools that the model is offered.
    pub tools: &'a [ToolSpec],
    /// What started the turn, such as `user`, `heartbeat` or `cron`.
    pub trigger: &'a str,
    /// The channel that the turn came through.
    pub channel: Option<&'a str>,
    /// The contract.
    pub contract: &'a str,
    /// What surrounds the turn.
    pub surroundings: &'a RunSurroundings<'a>,
}

/// What surrounds a turn and seldom changes.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunSurroundings<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// The program and its arguments, without what the user said.
    pub invocation: &'a [String],
    /// The configuration that matters to the turn. Secrets are taken out.
    pub config: Option<&'a Value>,
    /// The skills that the turn has, as plain data.
    pub skills: Option<&'a Value>,
    /// The part of the system prompt that lists them.
    pub skills_prompt: Option<&'a str>,
    /// What the system prompt is made of.
    pub prompt_report: Option<&'a Value>,
    /// The files of the workspace that are in the system prompt, as they were read.
    pub files: &'a [InjectedFile],
    /// The parts of the system prompt in order, so that it can be taken apart again: see [`fragments`](super::fragments).
    pub fragments: Option<&'a Value>,
}

/// A request is on its way.
#[derive(Debug, Clone, Copy)]
pub struct RequestSent<'a> {
    /// Which call of the turn, from 1.
    pub call: u32,
    /// The provider that is asked: another one than at the start, when that one failed.
    pub provider: &'a str,
    /// The model that is asked.
    pub model: &'a str,
    /// The request, built to bytes.
    pub prepared: &'a Prepared,
    /// The system prompt.
    pub system: &'a str,
    /// All messages that are sent.
    pub messages: &'a [Message],
    /// How many of them stood before the user's message of this turn.
    pub before_prompt: usize,
    /// The tools.
    pub tools: &'a [ToolSpec],
    /// The user's words of this turn.
    pub prompt: &'a str,
    /// How many pictures are in them.
    pub images: usize,
    /// How many tokens the answer may have.
    pub max_tokens: u64,
    /// The last record of the transcript.
    pub leaf: Option<&'a str>,
    /// When sending began, in milliseconds since 1970.
    pub sent_at: i64,
}

/// The turn is over.
#[derive(Debug, Clone, Copy)]
pub struct RunEnded<'a> {
    /// Why the last answer ended.
    pub stop_reason: Option<&'a StopReason>,
    /// Whether it was stopped before its end.
    pub stopped: Option<TurnStop>,
    /// What went wrong.
    pub error: Option<RunError<'a>>,
    /// The user's words as they were sent.
    pub prompt: &'a str,
    /// The conversation after the turn.
    pub messages: &'a [Message],
    /// What the turn took, summaries included; left out, what the answers say is added up.
    pub spending: Option<&'a Spending>,
}

/// Who or what stopped a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnStop {
    /// The user or the program around it.
    ByCaller,
    /// The program itself, such as for a limit of calls.
    ByItself,
    /// The turn took too long.
    TimedOut,
    /// The provider said nothing for too long.
    Idle,
    /// Making a summary took too long.
    WhileCompacting,
    /// A tool took too long.
    WhileToolRan,
    /// The turn's budget was spent.
    OutOfBudget,
}

/// What went wrong in a turn.
#[derive(Debug, Clone, Copy)]
pub struct RunError<'a> {
    /// Which part, such as `model` or `store`.
    pub source: &'a str,
    /// What it says.
    pub message: &'a str,
}
