//! Our own endpoints.

mod earlier;
mod events;
mod messages;
mod sessions;
mod status;

pub(crate) use events::events;
pub(crate) use messages::{SendMessage, check_key, send};
pub(crate) use sessions::{agent_of, context, key, session, session_key, sessions, stop};
pub(crate) use status::{agents, explain, health, status};
