//! The promises of `chitin-model`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

mod asking;
mod embedding_server;
mod embeddings;
mod http;
mod http_failures;
mod keys;
mod offline;
mod providers;
mod replay;
mod scripted;
mod trust;
mod wire_bodies;
mod wire_errors;
mod wire_faults;
mod wire_given;
mod wire_properties;
mod wire_streams;
