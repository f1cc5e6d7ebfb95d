//! What `chitin serve` is made of: a host of agents, the token that clients must know, memory that goes back.

mod host;
mod memory;
mod token;

pub(crate) use host::ServeHost;
pub(crate) use memory::give_back;
pub(crate) use token::{Token, token};
