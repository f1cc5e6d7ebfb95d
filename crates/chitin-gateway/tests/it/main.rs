//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod announce;
mod flow;
mod heartbeat;
mod queue;
mod reply;
mod route;
mod silent;
mod spawn;
mod spawning;
mod stage;
mod text;
mod text_stream;
