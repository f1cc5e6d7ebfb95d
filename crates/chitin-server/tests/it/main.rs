//! The server as its clients see it: over real sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "the stage has a clock of its own"
)]

#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;

mod client;
mod drain;
mod endpoints;
mod limits;
mod login;
mod metrics;
mod openai;
mod openapi;
mod page;
mod socket;
mod streams;
mod typescript;
mod webhook;
mod workspace_api;
