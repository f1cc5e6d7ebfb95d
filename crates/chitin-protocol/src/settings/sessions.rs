//! How long sessions last and how much of them is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How long sessions last and how much of them is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionSettings {
    /// When a session is reset; left out, what `openclaw.json` and the contract say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset: Option<ResetSettings>,
    /// The same by kind of conversation: `direct`, `group` or `thread`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reset_by_type: BTreeMap<String, ResetSettings>,
    /// The same by channel; it outweighs the others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reset_by_channel: BTreeMap<String, ResetSettings>,
    /// What is taken away by `chitin sessions prune` when it is not told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<PruneSettings>,
    /// How long to wait for a session that another process has open, in seconds; left out, 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u32>,
}

/// When a session is reset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ResetSettings {
    /// What resets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ResetMode>,
    /// The hour at which a day begins for sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_hour: Option<u8>,
    /// Minutes of silence after which it is reset; 0 is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_minutes: Option<u32>,
}

/// What resets a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ResetMode {
    /// A new day; if minutes of silence are configured, these too.
    Daily,
    /// Silence.
    Idle,
    /// Nothing but the user's wish.
    None,
}

/// What is taken away; nothing is, if all is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PruneSettings {
    /// Sessions that were not used for so many days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub older_than_days: Option<u32>,
    /// The oldest sessions when there are more than so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_at_most: Option<u32>,
    /// The oldest sessions when all together take more than so many megabytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_megabytes: Option<u64>,
}
