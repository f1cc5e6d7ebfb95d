//! Homes that no release leaves on a good day: half-written, hostile, copied, in use.
#![expect(
    clippy::disallowed_methods,
    reason = "homes are built, and looked at behind the reader's back"
)]

mod databases;
mod files;
mod home;
mod hostile;
