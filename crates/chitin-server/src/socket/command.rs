//! What a client and a server say to each other over a WebSocket.

use crate::api::SendMessage;
use chitin_gateway::events::Happening;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a client sends. `id` is the client's own name for it, and comes back.
#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(super) enum Command {
    /// A message for an agent; what happens to it is told until it is over.
    Message {
        #[serde(default)]
        id: Value,
        #[serde(default)]
        idempotency_key: Option<String>,
        message: Box<SendMessage>,
    },
    /// Wants to hear of a session, a job, or everything.
    Subscribe {
        #[serde(default)]
        id: Value,
        #[serde(flatten)]
        topic: Wanted,
    },
    /// Wants to hear of it no more.
    Unsubscribe {
        #[serde(default)]
        id: Value,
        #[serde(flatten)]
        topic: Wanted,
    },
    /// Stops the turn of a session.
    Stop {
        #[serde(default)]
        id: Value,
        session: String,
    },
    /// Asks whether anybody is there.
    Ping {
        #[serde(default)]
        id: Value,
    },
}

#[derive(Deserialize)]
pub(super) struct Wanted {
    pub(super) session: Option<String>,
    pub(super) job: Option<String>,
    #[serde(default)]
    pub(super) all: bool,
}

/// A happening, as a client gets it.
#[derive(Serialize)]
pub(super) struct Told<'a> {
    pub(super) r#type: &'static str,
    #[serde(flatten)]
    pub(super) happening: &'a Happening,
}
