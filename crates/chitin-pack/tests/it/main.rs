//! The library, as its users meet it.

mod build;
mod entry;
mod workspace;
