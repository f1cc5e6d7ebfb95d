//! What a turn may take at most.

use crate::config::Price;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a turn may take at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitSettings {
    /// How many times the model is asked in one turn; left out, 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    /// How many tools are run in one turn; left out, 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
    /// How often the very same call of a tool may be repeated in a row; left out, 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
    /// What a turn may cost, in US dollars; left out, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_cost: Option<Price>,
    /// What a session may cost, in US dollars; left out, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_cost: Option<Price>,
    /// How long a turn may take, in seconds; left out, 172800.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_seconds: Option<u32>,
}
