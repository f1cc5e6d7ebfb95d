//! A picture of a directory of sessions at one moment, for whoever copies it while others use it.
//!
//! Transcripts only grow, and the index says which of them is a session's. Whoever holds the index, lists the files with their lengths and
//! opens those that are replaced, has all that belongs together, however long the copying takes: later records lie behind those lengths, and
//! a transcript that is archived meanwhile is the same file under another name.

use crate::compat;
use crate::disk::Directory;
use crate::index::{IndexFile, IndexLock};
use crate::store::StoreError;
use std::path::Path;

/// Beginnings of names of files that are about to take the place of another.
const UNFINISHED: [&str; 2] = [".sessions.", ".ledger."];
/// Marks what is no whole line and was set aside; a number follows.
const TORN: &str = ".torn-";
/// The end of the names of files that are only locked.
const LOCKS: &str = ".lock";

/// As long as this lives, no session begins, ends or changes its transcript. Not for long: others wait.
#[derive(Debug)]
pub struct IndexHold {
    _lock: IndexLock,
}

/// How a file of a directory of sessions is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionFileKind {
    /// It only grows, line by line: it is copied up to its length at the moment, without what is no whole line.
    Growing,
    /// It is replaced as a whole: it is opened at the moment.
    Replaced,
    /// It is made anew by whoever needs it.
    LeftOut,
}

impl SessionFileKind {
    /// Says how a file is copied, by its name.
    pub fn of(name: &str) -> Self {
        if name.ends_with(LOCKS) || UNFINISHED.iter().any(|mark| name.starts_with(mark)) {
            Self::LeftOut
        } else if name.contains(compat::TRANSCRIPT) && !name.contains(TORN) {
            Self::Growing
        } else {
            Self::Replaced
        }
    }
}

/// Keeps everybody from changing the index of a directory of sessions; nothing if there is no such directory.
///
/// The index says everything then: no changes stand beside it, which would be of a later moment when they are copied.
pub fn hold_index(directory_path: &Path) -> Result<Option<IndexHold>, StoreError> {
    let Some(directory) = Directory::open(directory_path)? else {
        return Ok(None);
    };
    if directory.listed(compat::INDEX)?.is_none() {
        return Ok(None);
    }
    let lock = IndexFile::new(directory_path.to_owned()).fold_and_hold(&directory)?;
    Ok(Some(IndexHold { _lock: lock }))
}
