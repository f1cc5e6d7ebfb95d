//! What is written down for people who debug.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is written down for people who debug. Variables such as `CHITIN_CACHE_TRACE` come before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceSettings {
    /// Whether turns are recorded in trajectories; left out, they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<bool>,
    /// The directory of trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory_dir: Option<String>,
    /// How many bytes all trajectories of a home may have; left out, 512 MiB. The oldest are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// How many days a trajectory is kept after its last turn; left out, 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age_days: Option<u32>,
    /// Nothing is recorded while the disk has fewer free bytes; left out, 256 MiB, or a twentieth of a smaller disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_bytes: Option<u64>,
    /// Whether requests are logged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_log: Option<bool>,
    /// The file of the payload log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_log_file: Option<String>,
    /// Whether answers are logged as they come in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_stream: Option<bool>,
    /// The file of the raw stream log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_stream_file: Option<String>,
    /// What the provider can reuse, stage by stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_trace: Option<CacheTraceSettings>,
    /// How much of every request is said on stderr.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_payload: Option<PayloadDetail>,
}

/// What the provider can reuse, stage by stage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CacheTraceSettings {
    /// Whether it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Whether the messages are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_messages: Option<bool>,
    /// Whether the user's words are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_prompt: Option<bool>,
    /// Whether the system prompt is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_system: Option<bool>,
}

/// How much of a request is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PayloadDetail {
    /// Sizes and counts.
    Summary,
    /// The names of all tools too.
    Tools,
    /// The body too, without secrets and up to a length.
    FullRedacted,
}
