//! What `chitin serve` is made of: a host of agents, and the token that clients must know.

mod desk;
mod host;
mod token;

pub(crate) use desk::ServeDesk;
pub(crate) use host::ServeHost;
pub(crate) use token::{Token, token};
