//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod announce;
mod announcing;
mod crashes;
mod flow;
mod heartbeat;
mod queue;
mod route;
mod sessions_tools;
mod spawn;
mod spawning;
mod stage;
