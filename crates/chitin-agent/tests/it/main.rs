//! The promises of `chitin-agent`.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bounded;
mod continuation;
mod engine;
mod flush;
mod flush_plan;
mod flush_stage;
mod history;
mod history_odd;
mod history_summary;
mod history_texts;
mod journal;
mod stopping;
