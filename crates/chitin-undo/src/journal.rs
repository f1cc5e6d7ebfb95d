//! The journal of an undo: what it is about to do, written before the first file is touched. What a crash left undone is done by
//! whoever opens the store next.

use crate::entry::{Change, Entry};
use crate::error::UndoError;
use crate::history::Open;
use crate::log::TurnInfo;
use crate::look::Found;
use crate::path::FilePath;
use crate::restore::{Outcome, Restorer, closed_directories};
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The name of the file.
pub(crate) const JOURNAL: &str = "undo.journal";
/// The largest journal that is read.
const MAX_BYTES: u64 = 256 << 20;

/// What an undo does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) info: TurnInfo,
    pub(crate) changes: Vec<Change>,
    /// Directories that are closed to their owner and opened for a while, with their permission bits.
    closed: BTreeMap<FilePath, u32>,
}

impl Journal {
    pub(crate) fn new(open: &Open<'_>, info: TurnInfo, changes: Vec<Change>) -> Self {
        Self {
            closed: closed_directories(&open.workspace, &changes),
            info,
            changes,
        }
    }

    /// Writes it down; from here on the undo happens, whatever becomes of this process.
    pub(crate) fn write(&self, open: &Open<'_>) -> Result<(), UndoError> {
        let bytes = serde_json::to_vec(self).map_err(|error| UndoError::Io {
            path: JOURNAL.into(),
            source: error.into(),
        })?;
        Ok(open.store.replace_private(Path::new(JOURNAL), &bytes)?)
    }

    /// Makes the changes and records them as those of the undo.
    pub(crate) fn carry_out(
        &self,
        open: &mut Open<'_>,
        now_ms: i64,
    ) -> Result<Vec<(FilePath, Outcome)>, UndoError> {
        let limit = open.history.options.limits.max_file_bytes;
        let outcomes = Restorer::new(&open.store, &open.workspace, limit).apply(&self.changes);
        self.close_again(open);
        let planned: HashMap<&FilePath, Option<&Entry>> = self
            .changes
            .iter()
            .map(|change| (&change.path, change.after.as_ref()))
            .collect();
        open.advance_with(now_ms, |_, found: Vec<Found>| {
            let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| {
                let after = found.after.as_ref().map(|known| &known.entry);
                planned.get(&found.path) == Some(&after)
            });
            vec![(vec![self.info.clone()], ours), (Vec::new(), others)]
        })?;
        open.store.remove_file(Path::new(JOURNAL))?;
        Ok(outcomes)
    }

    /// Closes directories that a process opened which then died.
    fn close_again(&self, open: &Open<'_>) {
        for (path, mode) in self.closed.iter().rev() {
            if open.workspace.mode(path.as_path()) == Some(mode | 0o700)
                && !self.changes.iter().any(|change| change.path == *path)
            {
                // It stays open to its owner where that fails, which loses nothing.
                let _ = open.workspace.set_permissions(path.as_path(), *mode);
            }
        }
    }
}

/// Completes an undo that a crash left.
pub(crate) fn complete(open: &mut Open<'_>, now_ms: i64) -> Result<(), UndoError> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Refuse,
        max_bytes: MAX_BYTES,
        oversized: Oversized::Refuse,
    };
    let read = match open.store.read(Path::new(JOURNAL), &policy) {
        Ok(read) => read,
        Err(ReadError::Missing { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    // It is written whole or not at all; what is no journal was not written by us.
    if let Ok(journal) = serde_json::from_slice::<Journal>(&read.bytes) {
        journal.carry_out(open, now_ms)?;
    } else {
        open.store.remove_file(Path::new(JOURNAL))?;
    }
    Ok(())
}
