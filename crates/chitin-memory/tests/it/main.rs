//! Memory, as its users see it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod indexing;
mod notebook;
mod together;
mod trouble;
mod vectors;
