//! The one guarded door to the disk.
//!
//! A [`Root`] holds a directory open; everything beneath it is reached through that descriptor. What a link may do is a
//! [`Links`] policy. A file is opened once, then judged and read through the same descriptor, so no rename or link swap
//! can put other bytes in its place. Nothing here blocks on a FIFO.

mod fingerprint;
mod look;
mod open;
mod permissions;
mod policy;
mod probe;
mod root;
mod scratch;
mod walk;
mod write;

pub use fingerprint::Fingerprint;
pub use policy::{Hardlinks, Links, Oversized, ReadPolicy};
pub use probe::is_executable;
pub use root::{Backend, Entry, EntryKind, FileRead, ReadError, Root};
pub(crate) use root::{KeptFile, ParkedRoot};
pub use scratch::Scratch;
pub use walk::End;
pub use write::{WriteError, Written};
