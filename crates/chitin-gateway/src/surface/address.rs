//! Places on a surface: where a message came from, and where words go.

use crate::route::{Inbound, Peer};
use crate::threads::AnswerThread;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A place on a surface.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Address {
    /// The surface, such as `discord`.
    pub channel: String,
    /// The account on it; none is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The person, group or channel.
    pub peer: Peer,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}

impl Address {
    /// Returns the place that a message came from, if it says so.
    pub fn of(inbound: &Inbound) -> Option<Self> {
        Some(Self {
            channel: inbound.channel.clone(),
            account_id: inbound.account_id.clone(),
            peer: inbound.peer.clone()?,
            thread_id: inbound.thread_id.clone(),
        })
    }

    /// Returns the thread there that an answer stands in, if its id is known; otherwise the place itself.
    #[must_use]
    pub fn within(mut self, thread: Option<&AnswerThread>) -> Self {
        if let Some(AnswerThread::In { thread_id }) = thread {
            self.thread_id = Some(thread_id.clone());
        }
        self
    }

    /// Returns what a message from there would say of its place.
    pub fn inbound(&self) -> Inbound {
        Inbound {
            channel: self.channel.clone(),
            account_id: self.account_id.clone(),
            peer: Some(self.peer.clone()),
            thread_id: self.thread_id.clone(),
            ..Inbound::default()
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, id) = (self.peer.kind.as_str(), &self.peer.id);
        write!(f, "{}:{kind}:{id}", self.channel)?;
        match &self.thread_id {
            Some(thread) => write!(f, ":thread:{thread}"),
            None => Ok(()),
        }
    }
}
