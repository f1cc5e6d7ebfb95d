//! What the tools answer, and how places are cited (M43, M53, M60).

use schemars::JsonSchema;
use serde::Serialize;

/// What the tools answer, and how places are cited (M43, M53, M60).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryAnswerRules {}

impl MemoryAnswerRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {};
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {};
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {};
}
