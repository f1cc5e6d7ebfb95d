//! When and how an agent is asked to write down what it will forget (M70, M71).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// When and how an agent is asked to write down what it will forget (M70, M71).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFlushRules {
    /// Whether the tokens that are kept free follow `reserveTokensFloor`.
    pub reserve: FlushReserve,
    /// How the figures follow the size of the window.
    pub window: FlushWindow,
    /// Whether the user's own prompts are heard.
    pub prompts: FlushPrompts,
    /// How the time is told in the prompt.
    pub clock: FlushClock,
    /// How the index says that it happened.
    pub mark: FlushMark,
    /// How many tries in a row may fail before it is left until after the next summary; none is any number.
    pub most_failures: Option<u32>,
}

constants! {
    MemoryFlushRules, "runtime.memory.flush":
    /// How many tokens before the reserve it happens, when nobody says.
    SOFT_THRESHOLD_TOKENS: u64 = 4000;
    /// From which length of the transcript on it happens whatever the tokens are, in bytes, when nobody says; 0 is never.
    FORCE_TRANSCRIPT_BYTES: u64 = 2 * 1024 * 1024;
    /// The tokens that are kept free, when nobody says.
    RESERVE_FLOOR: u64 = 20_000;
}

/// Whether the tokens that are kept free follow the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlushReserve {
    /// They do.
    Configured,
    /// They do not.
    Fixed,
}

/// How the figures follow the size of the window, where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlushWindow {
    /// They do not: in a window that is smaller than the reserve it never happens.
    Ignored,
    /// The reserve is a quarter of the window at most, and the threshold half of what is left.
    Fitted,
}

/// Whether the user's own prompts are heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlushPrompts {
    /// They are; what they must say besides is added to them.
    Configured,
    /// They are not.
    BuiltIn,
}

/// How the time is told in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlushClock {
    /// On one line with the time in UTC; the hours as `timeFormat` wants them.
    OneLine,
    /// With the time in UTC on a line of its own; always twelve hours.
    TwoLines,
}

/// How the index says that it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FlushMark {
    /// `memoryFlushAt` and `memoryFlushCompactionCount`.
    CountAndTime,
    /// `memoryFlush`, with the outcome.
    Outcome,
}

impl MemoryFlushRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        reserve: FlushReserve::Configured,
        prompts: FlushPrompts::Configured,
        clock: FlushClock::OneLine,
        ..Self::OPENCLAW_2026_9
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        reserve: FlushReserve::Configured,
        window: FlushWindow::Ignored,
        prompts: FlushPrompts::Configured,
        clock: FlushClock::OneLine,
        mark: FlushMark::CountAndTime,
        most_failures: None,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        reserve: FlushReserve::Fixed,
        window: FlushWindow::Fitted,
        prompts: FlushPrompts::BuiltIn,
        clock: FlushClock::TwoLines,
        mark: FlushMark::Outcome,
        most_failures: Some(3),
    };
}
