//! The server as its clients see it: over real sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;

mod client;
mod drain;
mod endpoints;
mod limits;
mod openai;
mod socket;
mod streams;
