//! The gateway as its users see it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files behind the gateway's back"
)]

mod access;
mod access_attribution;
mod access_pairing;
mod access_rights;
mod announce;
mod announce_runs;
mod crashes;
mod cron;
mod directory;
mod files;
mod flow;
mod handover;
mod heartbeat;
mod heartbeat_runs;
mod live;
mod message_tool;
mod outages;
mod panics;
mod promises;
mod queue;
mod reply;
mod route;
mod serial_queues;
mod sessions_tools;
mod spawn;
mod spawn_runs;
mod stage;
mod threads;
