//! What `chitin serve` is made of: a host of agents, and the token that clients must know.

mod host;
mod token;

pub(crate) use host::ServeHost;
pub(crate) use token::{Token, token};
