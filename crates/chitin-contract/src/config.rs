//! Which keys `openclaw.json` may have; the tables of keys themselves are where configurations are judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which keys a configuration may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ConfigRules {
    /// Those of 2026.4.23, with the channels left open: 2026.2.9 spells many of their keys in an earlier way.
    #[serde(rename = "2026.2")]
    Keys2026_2,
    /// Those of 2026.4.23.
    #[serde(rename = "2026.4")]
    Keys2026_4,
    /// Those of 2026.9.6.
    #[serde(rename = "2026.9")]
    Keys2026_9,
}
