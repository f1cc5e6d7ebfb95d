//! How `chitin serve` is reached, and what it takes at most.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How `chitin serve` is reached, and what it takes at most. What is left out has a safe default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServeSettings {
    /// The address that it listens on; left out, `127.0.0.1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The port; left out, 7717. 0 picks a free one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether it may listen on an address that other machines reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_remote: Option<bool>,
    /// Further origins whose pages may talk to it, such as `https://yard.example`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origins: Option<Vec<String>>,
    /// Further names under which it may be addressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// The longest request body, in bytes; left out, 8 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body_bytes: Option<u32>,
    /// How many connections it holds; left out, 1,024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<u32>,
    /// How many requests one client may make in a minute; left out, 120,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// How many jobs may be open at once; left out, 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_open_jobs: Option<u32>,
    /// Messages are refused while the disk has fewer free bytes; left out, 64 MiB, or an eightieth of a smaller disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_bytes: Option<u64>,
    /// How long messages are tried again while the machine or the model fails, in seconds; left out, 86,400, a day. 0 is not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_seconds: Option<u32>,
    /// How long outcomes are kept for whoever sends a message again, in seconds; left out, 86,400, a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_outcomes_seconds: Option<u32>,
    /// How long turns may go on after it was told to end, in seconds; left out, 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_seconds: Option<u32>,
    /// How long a tool waits for the owner's permission, in seconds; left out, 600. Then it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_seconds: Option<u32>,
    /// How long an agent rests before it is let go until its next message, in seconds; left out, 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_agent_seconds: Option<u32>,
    /// How many agents that rest are kept; left out, 64. The others are let go, first those that rest longest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_agents: Option<u32>,
    /// A directory that is a surface: files in, files out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}
