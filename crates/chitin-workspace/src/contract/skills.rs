//! The part of a contract that is about skills.

use schemars::JsonSchema;
use serde::Serialize;

/// How skills are found and read (S1–S64).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillRules {}

impl SkillRules {
    /// Recorded in 2026.4.23; also what 2026.2 is taken to do, and canonical but for its order.
    pub const A: Self = Self {};
    /// Recorded in 2026.9.6.
    pub const B: Self = Self {};
    /// Canonical: A, with names ordered by code point.
    pub const CANONICAL: Self = Self {};
    /// The bridge: two roots in the workspace, one level deep.
    pub const ATMOSPHERE: Self = Self {};
}
