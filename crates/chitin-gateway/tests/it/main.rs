//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files behind the gateway's back"
)]

mod directory;
mod flow;
mod message_tool;
mod stage;
