//! Tests of the guard, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod guard;
mod leftovers;
mod scratch;
