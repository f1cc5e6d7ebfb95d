//! How sessions begin others and hear of them (R30–R48).

use schemars::JsonSchema;
use serde::Serialize;

/// How sessions begin others and hear of them (R30–R48).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubagentRules {}

impl SubagentRules {
    /// What the seed documents say; where they are silent, that of OpenClaw 2026.4.
    pub const CANONICAL: Self = Self {};
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {};
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {};
}
