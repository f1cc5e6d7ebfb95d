//! What of past conversations is remembered (M80).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// What of past conversations is remembered (M80).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveRules {
    /// The name under which a conversation is found.
    pub path: ArchivePath,
    /// What a surface puts around somebody's words, and goes.
    pub envelopes: Envelopes,
    /// What becomes of context that the program itself put into a message.
    pub runtime_context: Upkeep,
    /// What becomes of words that no person said and nobody was meant to hear: events, scheduled prompts, heartbeats, silent
    /// answers, messages between sessions.
    pub upkeep: Upkeep,
}

constants! {
    ArchiveRules, "runtime.memory.archive":
    /// The longest line, in UTF-16 units, without its label.
    WRAP_AT: usize = 800;
}

/// The name under which a conversation is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ArchivePath {
    /// `sessions/<file>`.
    Flat,
    /// `sessions/<agent>/<file>`.
    ByAgent,
}

/// What a surface puts around somebody's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Envelopes {
    /// Blocks under labels of a fixed list.
    Labelled,
    /// Blocks under any label that ends with a marker.
    Marked,
    /// Either.
    LabelledOrMarked,
}

/// What becomes of words that are not part of the conversation between people and agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Upkeep {
    /// They are remembered like others.
    Kept,
    /// They are left out.
    LeftOut,
}

impl ArchiveRules {
    /// What the seed documents say, and where they are silent, what serves best: a conversation of any release is read clean.
    pub const CANONICAL: Self = Self {
        envelopes: Envelopes::LabelledOrMarked,
        ..Self::OPENCLAW_2026_9
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        path: ArchivePath::Flat,
        envelopes: Envelopes::Labelled,
        runtime_context: Upkeep::Kept,
        upkeep: Upkeep::Kept,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        path: ArchivePath::ByAgent,
        envelopes: Envelopes::Marked,
        runtime_context: Upkeep::LeftOut,
        upkeep: Upkeep::LeftOut,
    };
}
