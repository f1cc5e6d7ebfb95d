//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files behind the gateway's back"
)]

mod announce;
mod announcing;
mod beats;
mod crashes;
mod cron;
mod directory;
mod files;
mod flow;
mod heartbeat;
mod live;
mod message_tool;
mod panics;
mod queue;
mod reply;
mod route;
mod sessions_tools;
mod spawn;
mod spawning;
mod stage;
mod threads;
mod trust;
mod trust_pairing;
mod trust_rights;
mod trust_words;
