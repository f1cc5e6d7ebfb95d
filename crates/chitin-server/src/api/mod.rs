//! Our own endpoints.

mod channels;
mod desk;
mod earlier;
mod events;
mod login;
mod messages;
mod sessions;
mod status;
mod tree;

pub(crate) use channels::{accounts, channels, pair, pairing, ready, routes};
pub(crate) use desk::{agent, lens, trace, traces, turns};
pub(crate) use events::events;
pub(crate) use login::{login, logout, me};
pub(crate) use messages::{SendMessage, check_key, send};
pub(crate) use sessions::{agent_of, context, key, session, session_key, sessions, stop};
pub(crate) use status::{agents, explain, health, status};
pub(crate) use tree::tree;
