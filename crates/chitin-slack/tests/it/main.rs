//! Slack as a surface, against a Slack that speaks the real protocols over sockets.

#[path = "../../../chitin-gateway/tests/it/stage.rs"]
mod stage;
mod yard;

mod hearing;
mod probing;
mod reading;
mod settings;
mod socket;
mod speaking;
mod threads;
mod webhook;
