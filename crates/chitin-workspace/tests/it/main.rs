//! Tests of the workspace crate, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bridge;
mod daily_notes;
mod extension_files;
mod extras;
mod filter;
mod load;
mod projects;
mod seeding;
mod skills;
mod state;
mod turns;
mod watch;
