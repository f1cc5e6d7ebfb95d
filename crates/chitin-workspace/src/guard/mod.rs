//! The one guarded door to the disk.
//!
//! A [`Root`] holds a directory open; everything beneath it is reached through that descriptor. What a link may do is a
//! [`Links`] policy. A file is opened once, then judged and read through the same descriptor, so no rename or link swap
//! can put other bytes in its place. Nothing here blocks on a FIFO.

mod birth;
mod cache;
mod change;
mod closed;
mod fingerprint;
mod growing;
mod look;
mod mirror;
mod open;
mod permissions;
mod place;
mod policy;
mod probe;
mod reader;
mod root;
mod scratch;
mod staging;
#[cfg(test)]
mod staging_tests;
mod stream;
mod survey;
mod walk;
mod write;

pub use birth::DirectoryBirth;
pub use change::{Expected, PreparedChange, commit_all};
pub use fingerprint::Fingerprint;
pub(crate) use fingerprint::stamp_now;
pub use growing::GrowingFile;
pub use place::Place;
pub use policy::{Hardlinks, Links, Oversized, ReadPolicy};
pub use probe::{exists, is_executable, link_target};
pub use reader::Reader;
pub use root::{Backend, Entry, EntryKind, FileRead, ReadError, Root};
pub(crate) use root::{KeptFile, ParkedRoot};
pub use scratch::{Scratch, ScratchFile};
pub use staging::{NewMode, StageError, Staging};
pub use stream::{Claim, ClaimKind, NewFile};
pub use survey::Looked;
pub use walk::End;
pub use write::{WriteError, Written};
