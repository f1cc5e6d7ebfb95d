//! The part of a contract that a running agent asks: plain data, one file per part.
//!
//! The crates that do the work take the part that they need; the contract holds all of them.

mod dispatch;
mod history;
mod memory;
mod outbound;
mod provider;
mod reset;
mod subagents;
mod tools;
mod trace;
mod transcript;

pub use dispatch::*;
pub use history::*;
pub use memory::*;
pub use outbound::*;
pub use provider::*;
pub use reset::*;
pub use subagents::*;
pub use tools::*;
pub use trace::*;
pub use transcript::*;

use schemars::JsonSchema;
use serde::Serialize;

/// What a runtime does once a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeRules {
    /// How requests to model providers are built (P1–P12).
    pub provider: ProviderRules,
    /// How transcripts are written (R15–R25).
    pub transcript: TranscriptRules,
    /// Which tools there are and who may use them (R60–R68).
    pub tools: ToolRules,
    /// What of a conversation is sent again, and how it is made shorter (C1–C62).
    pub history: HistoryRules,
    /// What is written down for people who debug (R110–R118).
    pub trace: TraceRules,
    /// When a session is reset (R20).
    pub reset: ResetRules,
    /// How text leaves (R50–R58, R70–R77).
    pub outbound: OutboundRules,
    /// Who gets a message and when it is dealt with (R11–R14, R80–R93).
    pub dispatch: DispatchRules,
    /// How sessions begin others and hear of them (R30–R48).
    pub subagents: SubagentRules,
    /// What is remembered, and how it is found again (M1–M81).
    pub memory: MemoryRules,
}

impl RuntimeRules {
    /// What the seed documents say.
    pub const CANONICAL: Self = Self {
        provider: ProviderRules::CANONICAL,
        transcript: TranscriptRules::CANONICAL,
        tools: ToolRules::CANONICAL,
        history: HistoryRules::CANONICAL,
        trace: TraceRules::CANONICAL,
        reset: ResetRules::CANONICAL,
        outbound: OutboundRules::CANONICAL,
        dispatch: DispatchRules::CANONICAL,
        subagents: SubagentRules::CANONICAL,
        memory: MemoryRules::CANONICAL,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        provider: ProviderRules::OPENCLAW_2026_4,
        transcript: TranscriptRules::OPENCLAW_2026_4,
        tools: ToolRules::OPENCLAW_2026_4,
        history: HistoryRules::OPENCLAW_2026_4,
        trace: TraceRules::OPENCLAW_2026_4,
        reset: ResetRules::OPENCLAW_2026_4,
        outbound: OutboundRules::OPENCLAW_2026_4,
        dispatch: DispatchRules::OPENCLAW_2026_4,
        subagents: SubagentRules::OPENCLAW_2026_4,
        memory: MemoryRules::OPENCLAW_2026_4,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        provider: ProviderRules::OPENCLAW_2026_9,
        transcript: TranscriptRules::OPENCLAW_2026_9,
        tools: ToolRules::OPENCLAW_2026_9,
        history: HistoryRules::OPENCLAW_2026_9,
        trace: TraceRules::OPENCLAW_2026_9,
        reset: ResetRules::OPENCLAW_2026_9,
        outbound: OutboundRules::OPENCLAW_2026_9,
        dispatch: DispatchRules::OPENCLAW_2026_9,
        subagents: SubagentRules::OPENCLAW_2026_9,
        memory: MemoryRules::OPENCLAW_2026_9,
    };
}
