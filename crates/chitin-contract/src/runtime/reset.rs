//! When a session is reset (R20).

use crate::constants::constants;
use chitin_protocol::settings::ResetMode;
use schemars::JsonSchema;
use serde::Serialize;

/// When a session is reset (R20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetRules {
    /// What holds when nothing is configured.
    pub default_mode: ResetMode,
    /// Whether `session.idleMinutes` and `resetByType.dm` are still read.
    pub legacy: LegacyReset,
    /// What is said of a session that is over.
    pub reasons: ResetReasons,
    /// What is made of times that have not come yet.
    pub future_times: FutureTimes,
}

constants! {
    ResetRules, "runtime.reset":
    /// What holds when something is configured, but no mode.
    CONFIGURED_MODE: ResetMode = ResetMode::Daily;
    /// The hour at which a day begins for sessions.
    DEFAULT_HOUR: u8 = 4;
    /// Minutes of silence in mode `idle`, when none are configured; 0 is never.
    DEFAULT_IDLE_MINUTES: u64 = 0;
}

/// Whether settings of old are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LegacyReset {
    /// They are.
    Read,
    /// They are not.
    Ignored,
}

/// Whether it is said why a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResetReasons {
    /// It is.
    Said,
    /// It is not.
    Unsaid,
}

/// What is made of times that have not come yet, as after a clock was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FutureTimes {
    /// They are believed.
    Believed,
    /// They count as unknown.
    Unknown,
}

impl ResetRules {
    /// What the seed documents say: nothing about resets, so that of OpenClaw 2026.4.
    pub const CANONICAL: Self = Self::OPENCLAW_2026_4;
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        default_mode: ResetMode::Daily,
        legacy: LegacyReset::Read,
        reasons: ResetReasons::Unsaid,
        future_times: FutureTimes::Believed,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        default_mode: ResetMode::None,
        legacy: LegacyReset::Ignored,
        reasons: ResetReasons::Said,
        future_times: FutureTimes::Unknown,
    };
}
