//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files behind the gateway's back"
)]

mod announce;
mod beats;
mod cron;
mod directory;
mod flow;
mod heartbeat;
mod message_tool;
mod queue;
mod route;
mod spawn;
mod stage;
mod threads;
