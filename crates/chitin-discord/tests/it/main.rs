//! Discord as a surface, against a server that speaks its protocol.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "the stage has a clock of its own"
)]

mod acting;
mod addressed;
mod bad_input;
mod connection;
mod ears;
mod hearing;
mod limits;
mod live;
mod patterns;
mod restart;
mod sending;
mod settings;
#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;
mod tls;
mod yard;
