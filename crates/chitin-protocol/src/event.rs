//! What happens in a turn, event by event: what `chitin run --json` prints and what surfaces will deliver.

use crate::message::{StopReason, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that happened in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum TurnEvent {
    /// The turn began. The user's words are in the transcript once `stored` has named their record.
    TurnStarted {
        /// The turn's own name.
        run_id: String,
        /// The session.
        session_key: String,
        /// The session's id.
        session_id: String,
        /// The model, as `provider/name`.
        model: String,
        /// The contract.
        contract: String,
    },
    /// A note for people: what was picked up, what was cut, what was refused.
    Note {
        /// The note.
        text: String,
    },
    /// A request is about to be sent.
    RequestSent {
        /// Which call of the turn, from 1.
        call: u32,
        /// The wire format.
        api: String,
        /// The length of the body, in bytes.
        bytes: usize,
        /// The SHA-256 of the body, in hexadecimal.
        digest: String,
        /// How many bytes of the body are the same as in the session's last request; none for the first.
        #[serde(skip_serializing_if = "Option::is_none")]
        same_prefix: Option<usize>,
    },
    /// The provider is asked again after a failure.
    Retrying {
        /// Which try comes next, from 2.
        attempt: u32,
        /// How long to wait first, in milliseconds.
        wait_ms: u64,
        /// What went wrong.
        reason: String,
        /// The model that is asked next, as `provider/name`.
        model: String,
    },
    /// Some of the answer.
    TextDelta {
        /// The text.
        delta: String,
    },
    /// One whole answer, which is in the transcript. A turn has several when tools are called between them.
    Said {
        /// Which answer of the turn, from 0.
        index: u32,
        /// The text.
        text: String,
    },
    /// Words that came while the turn ran are put to the model next.
    Steered {
        /// The name under which they were handed in.
        #[serde(skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// Some of the model's thoughts.
    ThinkingDelta {
        /// The text.
        delta: String,
    },
    /// The model calls a tool.
    ToolStarted {
        /// The provider's name for the call.
        call_id: String,
        /// The tool.
        name: String,
        /// What it is given.
        arguments: Value,
    },
    /// A tool says how far it is.
    ToolProgress {
        /// The provider's name for the call.
        call_id: String,
        /// What it says.
        text: String,
    },
    /// A tool needs somebody's permission.
    ApprovalNeeded {
        /// The provider's name for the call.
        call_id: String,
        /// The tool.
        name: String,
        /// What is to be allowed.
        what: String,
    },
    /// A tool is done.
    ToolFinished {
        /// The provider's name for the call.
        call_id: String,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// What the model is told, shortened for people.
        summary: String,
        /// How long it took, in milliseconds.
        runtime_ms: u64,
    },
    /// A rule of the workspace refused something. It went no further.
    Refused {
        /// What was refused.
        part: RefusedPart,
        /// The rule.
        #[serde(flatten)]
        by: RuleRefusal,
        /// What the sender reads in place of it.
        text: String,
        /// The name under which the message was handed in, or the provider's name for the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// A record is on the disk: it will survive whatever happens to this process.
    Stored {
        /// The record's id.
        entry_id: String,
        /// Its type, such as `message:user`.
        kind: String,
    },
    /// The conversation was put into a summary.
    Compacted {
        /// Tokens before.
        tokens_before: u64,
        /// Tokens after, estimated.
        tokens_after: u64,
        /// Why.
        reason: String,
    },
    /// The turn is over.
    TurnFinished {
        /// Why it ended.
        stop_reason: StopReason,
        /// The last answer's text.
        text: String,
        /// Tokens and cost of all calls of this turn.
        usage: Usage,
        /// Whether the provider did not say how many tokens some answer took.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tokens_unknown: bool,
        /// Whether the cost of some answer is unknown.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cost_unknown: bool,
        /// How many times the model was asked.
        calls: u32,
        /// How many tokens the last request had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
        /// How many tokens the model takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_window: Option<u64>,
        /// What went wrong, if something did.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// What a rule of a workspace refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedPart {
    /// A message to the agent.
    Message,
    /// A reply of the agent.
    Reply,
    /// A call of a tool.
    ToolCall,
}

/// The rule of a workspace that refused something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleRefusal {
    /// The file, such as `PERMISSIONS.md`; of a workspace that is not the agent's own with its directory.
    pub file: String,
    /// The rule, as the file spells it, such as `deny`.
    pub rule: String,
    /// The policy's name, such as `workspace-deny-main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The line of the rule, counted from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, where the file itself is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Why, without saying what the rule looks for.
    pub reason: String,
}
