//! The library, as its users meet it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests build trees on purpose, look at what is there afterwards, and damage files behind the store's back"
)]

mod apply;
mod build;
mod entry;
mod exchange;
mod full_disk;
mod hostile;
mod kill;
mod layouts;
mod memory;
mod merged;
mod open;
mod project;
mod reuse;
mod round_trip;
mod store_children;
mod store_kit;
mod store_upkeep;
mod support;
mod workspace;
