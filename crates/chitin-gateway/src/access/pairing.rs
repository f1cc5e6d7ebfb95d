//! Somebody who waits to be let in, and somebody who was.

use super::document::CODE_LIVES_MS;
use crate::surface::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Somebody who waits to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPairing {
    /// The channel.
    pub channel: String,
    /// The account on it.
    pub account: String,
    /// Who asks.
    pub sender_id: String,
    /// How they are called. They chose the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// The pairing code.
    pub code: String,
    /// When they first asked, in milliseconds since 1970.
    pub asked_at: i64,
    /// Until when the code counts, in milliseconds since 1970.
    pub expires_at: i64,
    /// When they were last told, in milliseconds since 1970.
    pub told_at: i64,
    /// Where they write.
    pub place: Address,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Paired {
    /// The channel.
    pub channel: String,
    /// The account on it.
    pub account: String,
    /// Who.
    pub sender_id: String,
    /// How they were called when they asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// Whether they own the agent.
    #[serde(default)]
    pub owner: bool,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
    /// Where they are still to be told that they were let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_greet: Option<Address>,
}

/// Somebody who asks to be let in.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) channel: String,
    pub(crate) account: String,
    pub(crate) sender_id: String,
    pub(crate) sender_name: Option<String>,
    pub(crate) place: Address,
}

/// What somebody who asks is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asking {
    /// The code.
    Tell(String),
    /// Nothing: it was told a while ago.
    Quiet,
    /// Nothing: too many wait.
    Full,
}

impl PendingPairing {
    /// Tells whether its code still counts. One that begins in the future was made before the clock was set back.
    pub(super) fn is_open(&self, now: i64) -> bool {
        now < self.expires_at && self.expires_at - now <= CODE_LIVES_MS
    }
}
