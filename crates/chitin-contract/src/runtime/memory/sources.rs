//! What is searched, and where configuration speaks of it (M80, M81).

use schemars::JsonSchema;
use serde::Serialize;

/// What is searched, and where configuration speaks of it (M80, M81).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySourceRules {
    /// Where `openclaw.json` speaks of it for all agents, as JSON pointers; the first that is there counts.
    pub config: &'static [&'static str],
    /// Where an agent's own entry does.
    pub agent_config: &'static [&'static str],
    /// Whether past conversations are searched when nothing is said.
    pub conversations: PastConversations,
    /// Whether sizes of pieces can be configured.
    pub sizes: PieceSizes,
}

/// Whether past conversations are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PastConversations {
    /// They are.
    Searched,
    /// Only when `experimental.sessionMemory` and `sources` ask for it.
    OnRequest,
}

/// Whether sizes of pieces can be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PieceSizes {
    /// By `chunking`.
    Configured,
    /// They are as they are.
    Fixed,
}

impl MemorySourceRules {
    /// What the seed documents say: memory files and the archive of sessions.
    pub const CANONICAL: Self = Self {
        config: &["/memory/search", "/agents/defaults/memorySearch"],
        agent_config: &["/memory/search", "/memorySearch"],
        conversations: PastConversations::Searched,
        sizes: PieceSizes::Fixed,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        config: &["/agents/defaults/memorySearch"],
        agent_config: &["/memorySearch"],
        conversations: PastConversations::OnRequest,
        sizes: PieceSizes::Configured,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        config: &["/memory/search"],
        agent_config: &["/memory/search"],
        conversations: PastConversations::OnRequest,
        sizes: PieceSizes::Fixed,
    };
}
