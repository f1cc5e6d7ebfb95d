//! What `chitin serve` has to do with its process: systemd, open files, and beginning anew on the same socket.

pub(crate) mod descriptors;
mod notify;
pub(crate) mod restart;

pub(crate) use notify::Notifier;
