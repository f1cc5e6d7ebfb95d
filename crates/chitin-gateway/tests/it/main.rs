//! The gateway as its users see it.

mod announce;
mod heartbeat;
mod queue;
mod route;
mod spawn;
