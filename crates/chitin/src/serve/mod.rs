//! What `chitin serve` has to do with its process: systemd, and beginning anew on the same socket.

mod notify;
pub(crate) mod restart;

pub(crate) use notify::Notifier;
