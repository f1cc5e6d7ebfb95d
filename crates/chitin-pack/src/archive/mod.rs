//! Deterministic archives: the same files give the same bytes, on any machine and clock (rules P21–P24, P29).
//!
//! Written and read here rather than by a library: every byte of a header is part of a digest that others recorded, and a
//! reader that takes only files and directories has less to get wrong than one that takes everything.

mod gzip;
mod header;
mod path;
mod read;
mod write;

pub use gzip::{Compressor, compress, decompress};
pub(crate) use header::BLOCK;
pub use path::{SeenPaths, check as check_path};
pub(crate) use read::broken;
pub use read::{ArchiveEntry, ArchiveEntryKind, ArchiveLimits, read};
pub use write::TarWriter;

#[cfg(test)]
mod archive_tests;
