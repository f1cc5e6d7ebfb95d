//! Memory, as its users see it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees of files and links"
)]

mod answers;
mod archive;
mod chunks;
mod citing;
mod days;
mod embedding;
mod files;
mod indexing;
mod keeper;
mod notebook;
mod notes;
mod quality_set;
mod ranking;
mod reading;
mod searching;
mod together;
mod trouble;
mod vectors;
mod words;
