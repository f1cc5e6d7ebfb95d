//! The promises of `chitin-store`, one module per topic.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files, and damage them, behind the store's back"
)]

mod archive;
mod changes;
mod changes_beside;
mod children;
mod forget;
mod fork;
mod full_disk;
mod guard;
mod job_log_damage;
mod job_log_outcomes;
mod job_log_passing;
mod kill;
mod kit;
mod ledger;
mod locks;
mod lossless;
mod openclaw;
mod reading;
mod removal;
mod reset;
mod writing;
