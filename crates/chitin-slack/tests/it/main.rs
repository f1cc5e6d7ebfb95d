//! Slack as a surface, against a Slack that speaks the real protocols over sockets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(
    clippy::disallowed_methods,
    reason = "the stage has a clock of its own"
)]

#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;
mod yard;

mod acting;
mod hearing;
mod probing;
mod reading;
mod settings;
mod socket;
mod speaking;
mod streaming;
mod threads;
mod tls;
mod webhook;
