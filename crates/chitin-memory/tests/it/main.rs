//! Memory, as its users see it.

mod embedding;
mod quality_set;
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees of files and links"
)]

mod chunks;
mod files;
mod reading;
mod words;
