//! The messages of a WebSocket, in both directions.

use crate::api::SendMessage;
use crate::error::ErrorDetails;
use crate::feed::FinishedBefore;
use chitin_gateway::Accepted;
use chitin_gateway::events::GatewayEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message of a client. `id` is the client's own name for it, and is repeated in the reply.
#[derive(Deserialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum SocketCommand {
    /// Sends a message to an agent. Its events follow until it has finished.
    Message {
        /// The client's name for this.
        #[serde(default)]
        id: Value,
        /// A name for the message: the same name is the same message.
        #[serde(default)]
        idempotency_key: Option<String>,
        /// The message.
        message: Box<SendMessage>,
    },
    /// Subscribes to the events of a session, of a job, or to all.
    Subscribe {
        /// The client's name for this.
        #[serde(default)]
        id: Value,
        /// Which events.
        #[serde(flatten)]
        topic: SocketTopic,
        /// Whether this client can answer questions for permission. They are asked as long as somebody listens who can.
        #[serde(default)]
        answers: bool,
    },
    /// Ends a subscription.
    Unsubscribe {
        /// The client's name for this.
        #[serde(default)]
        id: Value,
        /// Which events.
        #[serde(flatten)]
        topic: SocketTopic,
    },
    /// Stops the turn of a session.
    Stop {
        /// The client's name for this.
        #[serde(default)]
        id: Value,
        /// The session.
        session: String,
    },
    /// Asks for a sign of life.
    Ping {
        /// The client's name for this.
        #[serde(default)]
        id: Value,
    },
}

/// Which events are meant: exactly one of the three.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct SocketTopic {
    /// Those of this session.
    pub(super) session: Option<String>,
    /// Those of this job.
    pub(super) job: Option<String>,
    /// All.
    #[serde(default)]
    pub(super) all: bool,
}

/// A message of the server.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SocketMessage<'a> {
    /// What it is.
    #[serde(flatten)]
    pub(super) body: SocketBody<'a>,
    /// The name of the client's message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Value>,
}

/// What a message of the server is.
#[derive(Serialize, JsonSchema)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum SocketBody<'a> {
    /// A message was accepted.
    Accepted(Accepted),
    /// A subscription began.
    Subscribed,
    /// A subscription ended.
    Unsubscribed,
    /// The turn of a session was stopped.
    Stopped {
        /// The session.
        session_key: String,
        /// How many jobs were stopped or dropped.
        stopped: usize,
    },
    /// The server is there.
    Pong,
    /// A command failed.
    Error {
        /// What went wrong.
        error: ErrorDetails,
    },
    /// Something happened.
    Happening(&'a GatewayEvent),
    /// The message had finished before it was sent again.
    #[serde(rename = "happening")]
    FinishedBefore(FinishedBefore),
    /// The client was too slow and lost events.
    Missed {
        /// How many.
        count: u64,
    },
    /// The server is shutting down.
    Draining,
}

impl<'a> From<SocketBody<'a>> for SocketMessage<'a> {
    fn from(body: SocketBody<'a>) -> Self {
        Self { body, id: None }
    }
}
