//! The one door to the disk.
//!
//! In: a directory that the caller names, a path beneath it, and a policy that says what links, second names and sizes are
//! allowed. Out: bytes with their fingerprint, a directory's entries, or a refusal with its reason; and files that are
//! written whole or not at all. This crate never follows a path out of its root unless the policy says so, never blocks on
//! a FIFO, never looks at the environment, and never prints.
//!
//! A [`Root`] holds a directory open; everything beneath it is reached through that descriptor. What a link may do is a
//! [`LinkPolicy`] policy. A file is opened once, then judged and read through the same descriptor, so no rename or link swap
//! can put other bytes in its place.
//!
//! ```
//! use chitin_guard::{ReadPolicy, Root};
//! use std::path::Path;
//!
//! # let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbor"));
//! let root = Root::open(directory)?;
//! let read = root.read(Path::new("AGENTS.md"), &ReadPolicy::inside(2 * 1024 * 1024))?;
//! assert!(read.bytes.starts_with(b"# Operating rules"));
//! assert!(root.read(Path::new("../README.md"), &ReadPolicy::inside(1024)).is_err());
//! # Ok::<(), chitin_guard::ReadError>(())
//! ```

mod birth;
mod cache;
mod change;
mod excluded;
mod fingerprint;
mod fresh;
mod lexical;
mod link;
mod mirror;
mod nameless;
mod open;
mod permissions;
mod place;
pub mod plain_file;
mod policy;
mod probe;
mod programs;
mod reader;
mod resumable;
mod root;
mod scratch;
mod space;
mod staging;
#[cfg(test)]
mod staging_tests;
mod stat;
mod stream;
mod survey;
mod temporary;
mod walk;
mod write;

pub use birth::DirectoryBirth;
pub use change::{Expected, PreparedChange, commit_all};
pub use fingerprint::{Fingerprint, PLACEHOLDER_MODE, stamp_now};
pub use fresh::FreshTree;
pub use lexical::normalized;
pub use place::TargetDirectory;
pub use policy::{Hardlinks, LinkPolicy, Oversized, ReadPolicy};
pub use probe::{exists, is_executable, link_target};
pub use programs::{FoundProgram, ProgramDistrust, ProgramOrder, ProgramSearch, RefusedProgram};
pub use reader::Reader;
pub use resumable::GrowingFile;
pub use root::{
    Backend, DirectoryEntry, DirectoryEntryKind, FileRead, KeptFile, NameRule, ParkedRoot,
    ReadError, Root,
};
pub use scratch::{Scratch, ScratchFile};
pub use space::{DiskSpace, SpaceFound, SpaceLevel, SpaceLimits, SpaceWatch};
pub use staging::{NewMode, StageError, Staging};
pub use stream::{ClaimKind, NameClaim, NewFile};
pub use survey::SurveyEntry;
pub use temporary::is_leftover_name;
pub use walk::NameEnd;
pub use write::{WriteError, WriteOutcome};
