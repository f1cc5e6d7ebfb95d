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
    /// What turns may do that hold text of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<UntrustedSettings>,
}

/// What turns may do that hold text which is not the owner's: messages of guests, pages, what MCP servers and commands with the network
/// say, files that were received or written from such text. Left out, they ask the owner before they send something elsewhere, change
/// schedules or files that the agent is made of, run commands with the network, or call tools of MCP servers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UntrustedSettings {
    /// What such turns may do without asking: names of tools, patterns with `*`, and `write:<path>` for files that the agent is made of. `*`
    /// alone grants nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Tools that such turns ask for besides: names, or patterns with `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<String>>,
    /// MCP servers whose replies are trusted, by name. Their tools are not asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_mcp: Option<Vec<String>>,
    /// Hosts whose pages are trusted: names, or `*.` and a name for all below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_hosts: Option<Vec<String>>,
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
