//! The library, as its users meet it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod apply;
mod build;
mod entry;
mod full_disk;
mod hostile;
mod kill;
mod layouts;
mod open;
mod support;
mod workspace;
