//! The index: which session has which transcript (R15, R17). Fields and entries that we do not know are kept.

mod batch;
mod file;
mod log;
mod slot;
mod table;
mod turn;
mod views;
mod write;

pub(crate) use file::IndexFile;
pub(crate) use table::Index;
pub(crate) use turn::Turn;

use crate::compat;
use crate::disk::{Directory, File, Open, damaged};
use crate::store::{LockMode, StoreError};
use std::sync::Arc;
use table::Keep;

/// The file that is locked while the index is changed. It holds nothing, and the kernel drops the lock with the process.
const LOCK: &str = "sessions.lock";
/// What the index is written to before it takes its place.
const NEXT: &str = ".sessions.json.next";
/// Changes that a long index does not say yet.
pub(crate) const CHANGES: &str = "sessions.changes";
/// Which key got which session: written once for each session, read only when the index is lost.
pub(crate) const KEYS: &str = "sessions.keys";
/// How long a change of the index by another process may take.
const WAIT: LockMode = LockMode::Wait(10_000);
/// No honest index is longer.
const MAX_BYTES: u64 = 256 << 20;

/// Why there is no index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoIndex {
    Missing,
    Damaged,
}

/// The right to change the index.
#[derive(Debug)]
pub(crate) struct IndexLock {
    _file: File,
}

impl IndexLock {
    pub(crate) fn take(directory: &Directory) -> Result<Self, StoreError> {
        let path = directory.path_of(LOCK);
        let file = directory
            .file(LOCK, Open::AppendOrCreate)?
            .ok_or_else(|| damaged(path.clone(), "it cannot be made"))?;
        let _turn = directory.turn(WAIT);
        if file.lock_soon(WAIT)? {
            Ok(Self { _file: file })
        } else {
            Err(damaged(path, "another process does not let it go"))
        }
    }
}

impl Index {
    /// Reads the index of a directory of another program: what it says is held in memory, and changes beside it are not ours.
    pub(crate) fn read_foreign(directory: &Directory) -> Result<Result<Self, NoIndex>, StoreError> {
        let Some(file) = directory.file(compat::INDEX, Open::Read)? else {
            return Ok(Err(NoIndex::Missing));
        };
        let bytes = file.read_all(MAX_BYTES)?;
        Ok(Self::parse(&Arc::new(file), &bytes, Keep::InMemory).ok_or(NoIndex::Damaged))
    }
}

#[cfg(test)]
mod tests;
