//! What is open to others than the owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is open to others than the owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AccessSettings {
    /// What turns may do that a guest's message started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guests: Option<GuestSettings>,
}

/// What turns may do that a guest's message started. Left out, they can read and list files of the workspace and answer, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct GuestSettings {
    /// Tools that guests have besides `read`, `list`, `search`, `session_status` and `message`: names, `group:<section>`, or patterns with
    /// `*`. `*` alone grants nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Whether the prompt has `MEMORY.md`, `USER.md` and `memory/`, and tools reach them; left out, no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<bool>,
    /// What the tools for files may do; left out, they read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<GuestFiles>,
}

/// What the tools for files may do in a guest's turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuestFiles {
    /// None of them is there.
    None,
    /// They read.
    #[default]
    Read,
    /// They write, too, except to files that the agent is made of.
    Write,
}
