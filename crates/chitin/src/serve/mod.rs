//! What `chitin serve` has to do with its process: systemd, open files, and beginning anew in another process.

pub(crate) mod descriptors;
mod ears;
mod notify;
mod process;
pub(crate) mod restart;

pub(crate) use ears::Ears;
pub(crate) use notify::Notifier;
pub(crate) use process::{Ending, Process, Served, Signals, told_to_stop};
