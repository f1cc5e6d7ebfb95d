//! Recorded turns and sessions.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Which recorded sessions are to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceListRequest {
    /// Only those of this agent.
    pub agent: Option<String>,
    /// Only that of this session.
    pub session: Option<String>,
    /// The maximum number.
    pub limit: usize,
}

/// The recorded turns of a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TurnList {
    /// The turns, the newest first.
    pub turns: Vec<TurnSummary>,
    /// Whether the session is recorded.
    pub recorded: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A recorded turn.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnSummary {
    /// Its id.
    pub id: String,
    /// When it began, as an ISO instant.
    pub at: Option<String>,
    /// The length of the system prompt, in UTF-16 units.
    pub system_chars: usize,
    /// How many messages were sent.
    pub messages: usize,
    /// The model, as `provider/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Tokens sent, including cached ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens that were read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// What it cost, in US dollars; absent when a price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The recorded sessions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceList {
    /// The sessions, the newest first.
    pub traces: Vec<RecordedSession>,
}

/// A recorded session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedSession {
    /// The session's id.
    pub id: String,
    /// The session's key.
    pub session_key: String,
    /// When the last event was recorded, as an ISO instant.
    pub at: String,
    /// When the first turn began, as an ISO instant.
    pub started: String,
    /// How many turns there are.
    pub turns: usize,
    /// The length of the recording in bytes.
    pub bytes: u64,
    /// The model of the last turn, as `provider/name`.
    pub model: String,
    /// How the last turn ended; null while it is running, or when it was broken off.
    pub status: Option<String>,
    /// All tokens, cached ones included.
    pub tokens: u64,
    /// Whether the provider did not count the tokens of some reply.
    pub tokens_unknown: bool,
    /// What it cost, in US dollars; null when a price is not known.
    pub cost_usd: Option<f64>,
}

/// A recorded session, event by event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TraceReply {
    /// The newest events, in the order in which they were recorded. Their shape is that of the recording.
    pub events: Vec<Value>,
    /// Whether there are older events than are given.
    pub truncated: bool,
    /// How many events there are.
    pub total: usize,
    /// How many lines of the recording could not be read.
    pub damaged: usize,
}
