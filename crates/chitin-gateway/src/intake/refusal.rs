//! Why a message was not taken in.

use crate::host::HostError;
use crate::route::RouteError;
use chitin_store::StoreError;

/// Why a message was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum IntakeRefusal {
    /// The gateway is about to end.
    #[error("the gateway is shutting down")]
    Closing,
    /// The next process of the server takes messages in.
    #[error("the server restarts; nothing was done, so try again")]
    Restarting,
    /// There is nothing in it.
    #[error("the message is empty")]
    Empty,
    /// There is too much in it.
    #[error("the message is too large: {0}")]
    TooLarge(String),
    /// There is no such agent.
    #[error("there is no agent `{id}`")]
    UnknownAgent {
        /// The id.
        id: String,
        /// One that may be meant.
        nearest: Option<String>,
    },
    /// The key names no session.
    #[error("`{key}` cannot be a session: {reason}")]
    BadSession {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// The agent's workspace does not take messages from this channel.
    #[error("{reason}")]
    ChannelShut {
        /// The channel.
        channel: String,
        /// Why, as a sentence that names the file.
        reason: String,
    },
    /// Nobody is there for it.
    #[error(transparent)]
    NoRoute(#[from] RouteError),
    /// Too much is to be done already.
    #[error("{open} jobs are already open, the maximum")]
    Full {
        /// How many.
        open: usize,
    },
    /// What is to be done already is too large.
    #[error("the open messages already use the maximum size")]
    TooMuch,
    /// The disk is nearly full: what is left is for what was accepted.
    #[error(
        "only {free} bytes are free on the disk, fewer than the {least} that are kept for what was accepted"
    )]
    NoSpace {
        /// How many bytes are free.
        free: u64,
        /// How many are kept.
        least: u64,
    },
    /// Too much waits in this session already.
    #[error("{waiting} messages are already queued in this session, the maximum")]
    QueueFull {
        /// How many.
        waiting: usize,
    },
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The agent's own parts cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
}
