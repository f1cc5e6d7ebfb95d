//! The library, as its users meet it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files, and damage them, behind the store's back"
)]

mod exchange;
    reason = "tests build trees on purpose, look at what is there afterwards, and damage files behind the store's back"

mod apply;
mod build;
mod entry;
mod full_disk;
mod hostile;
mod kill;
mod layouts;
mod merged;
mod open;
mod store_children;
mod store_kit;
mod store_upkeep;

mod apply;
mod full_disk;
mod hostile;
mod kill;
mod layouts;
mod open;
mod support;

mod build;
mod entry;
mod workspace;
