//! What the index says of a session.

use crate::names;
use chitin_protocol::message::Extra;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the index says of a session (R17). Fields that we do not know are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionEntry {
    /// The session's id.
    pub session_id: String,
    /// When it was last used, in milliseconds since 1970.
    pub updated_at: i64,
    /// Where the transcript is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// The provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Tokens sent in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens answered in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Tokens in the model's window after the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Whether `total_tokens` is of the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens_fresh: Option<bool>,
    /// Tokens read from the cache in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens written to the cache in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// What the session has cost so far, in US dollars; nothing where a price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_cost_usd: Option<f64>,
    /// What all turns together took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<SessionTotals>,
    /// Whether the last turn was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aborted_last_run: Option<bool>,
    /// How many times the session was put into a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction_count: Option<u64>,
    /// When the agent last wrote down what it would forget, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_flush_at: Option<i64>,
    /// How many times the session had been put into a summary then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_flush_compaction_count: Option<u64>,
    /// The same as later releases keep it: how it went, and how often the session had been put into a summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_flush: Option<Value>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The channel that it began on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The channel that it was last used on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_channel: Option<String>,
    /// Where answers go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_context: Option<Value>,
    /// The session that it was spawned by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_by: Option<String>,
    /// The workspace that it was spawned for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawned_workspace_dir: Option<String>,
    /// How many spawns lie between it and a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn_depth: Option<u64>,
    /// Whether it may spawn: `orchestrator` or `leaf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_role: Option<String>,
    /// Whom it may steer: `children` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_control_scope: Option<String>,
    /// Whether it began with a copy of its parent's conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from_parent: Option<bool>,
    /// How its last run goes or went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When its last run began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<i64>,
    /// When its last run ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<i64>,
    /// How long its last run took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_ms: Option<u64>,
    /// What else the index says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What all turns of a session together took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionTotals {
    /// How many turns there were.
    pub turns: u64,
    /// Tokens sent, and neither read from nor written to a cache.
    pub input: u64,
    /// Tokens answered.
    pub output: u64,
    /// Tokens read from the cache.
    pub cache_read: u64,
    /// Tokens written to the cache.
    pub cache_write: u64,
    /// Whether the provider did not say how many tokens some answer took: then there were more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tokens_unknown: bool,
}

impl SessionTotals {
    /// Returns all tokens.
    pub const fn tokens(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

impl SessionEntry {
    /// Returns the name of the transcript; `None` when the index names nothing that can be one.
    pub(crate) fn transcript_name(&self) -> Option<String> {
        names::transcript(&self.session_id, self.session_file.as_deref())
    }

    /// Returns what a reset session keeps: who it is, not what its turns took.
    pub(crate) fn carried_over(self) -> Self {
        Self {
            model_provider: self.model_provider,
            model: self.model,
            context_tokens: self.context_tokens,
            label: self.label,
            channel: self.channel,
            last_channel: self.last_channel,
            delivery_context: self.delivery_context,
            spawned_by: self.spawned_by,
            spawned_workspace_dir: self.spawned_workspace_dir,
            spawn_depth: self.spawn_depth,
            subagent_role: self.subagent_role,
            subagent_control_scope: self.subagent_control_scope,
            extra: self.extra,
            ..Self::default()
        }
    }
}
