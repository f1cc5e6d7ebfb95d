//! What of a conversation is sent again, and when it is put into a summary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of a conversation is sent again, and when it is put into a summary. What `openclaw.json` says under
/// `agents.defaults.compaction` and `agents.defaults.contextPruning` holds where this is silent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct HistorySettings {
    /// How many of a user's turns are sent again; left out, all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// When and how a conversation is put into a summary.
    pub compaction: CompactionSettings,
    /// How old tool results are shortened in what is sent.
    pub pruning: PruningSettings,
    /// The longest tool result that is sent, in characters; left out, 16000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_chars: Option<u32>,
}

/// When and how a conversation is put into a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionSettings {
    /// Whether it happens by itself when the window is nearly full; left out, it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Tokens that are kept free for the answer; left out, 20000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve_tokens: Option<u32>,
    /// Tokens of the newest messages that stay as they are; left out, 20000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_recent_tokens: Option<u32>,
    /// How many of the newest turns that go are kept word by word in the summary; left out, 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserved_turns: Option<u32>,
    /// What the summary is to look after besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How the agent writes down what it will forget, before a summary takes its place.
    pub memory_flush: MemoryFlushSettings,
}

/// How the agent writes down what it will forget. What `openclaw.json` says under `agents.defaults.compaction.memoryFlush`
/// holds where this is silent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryFlushSettings {
    /// Whether it does; left out, it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How many tokens before the summary; left out, 4000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_threshold_tokens: Option<u32>,
    /// The length of the transcript from which on it does whatever the tokens are, in bytes; left out, 2 MiB; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_flush_transcript_bytes: Option<u64>,
    /// What the model is asked; where to write, and when to be silent, is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What the model is told before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
}

/// How old tool results are shortened in what is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PruningSettings {
    /// `off`, or `cache-ttl`: once the provider's cache has run out; left out, `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<PruningMode>,
    /// How long the provider keeps its cache, such as `5m` or `1h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<String>,
}

/// Whether old tool results are shortened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PruningMode {
    /// Never.
    #[default]
    Off,
    /// Once the provider's cache has run out.
    CacheTtl,
}
