//! The history of a workspace through its public functions.
#![expect(
    clippy::disallowed_methods,
    reason = "tests build and read trees by hand"
)]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod blame;
mod crashes;
mod forget;
mod kit;
mod limits;
mod random;
mod turns;
mod undo;
