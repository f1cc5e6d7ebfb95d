//! Tests of the configuration crate, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod channels;
mod config;
