//! A thread's turn to change the index.

use super::IndexLock;
use super::batch::Batch;
use super::file::IndexFile;
use super::slot::{OldEntry, Slot};
use super::table::Pending;
use crate::disk::Directory;
use crate::rebuild::KeyLine;
use crate::store::{SessionEntry, StoreError, StoreNote};
use std::ops::ControlFlow;
use std::sync::Arc;

/// What the threads of a batch change, one after the other.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) batch: Arc<Batch>,
    pub(super) directory: Directory,
    pub(super) lock: IndexLock,
    /// What is to be different from the files.
    pub(super) changes: Pending,
    pub(super) keys: Vec<KeyLine>,
    notes: Vec<StoreNote>,
    /// How many threads came in.
    pub(super) members: usize,
    /// How many threads still put something onto the disk that the index will name.
    pub(super) at_work: usize,
    /// Why one of them could not.
    pub(super) failure: Option<StoreError>,
}

impl Door {
    pub(super) fn new(
        batch: Arc<Batch>,
        (directory, lock): (Directory, IndexLock),
        notes: Vec<StoreNote>,
    ) -> Self {
        Self {
            batch,
            directory,
            lock,
            changes: Pending::new(),
            keys: Vec::new(),
            notes,
            members: 0,
            at_work: 0,
            failure: None,
        }
    }
}

/// A thread's turn to change the index. Nothing of it is on the disk before the batch is.
#[derive(Debug)]
pub(crate) struct Turn<'d> {
    door: &'d mut Door,
    ledger: &'d IndexFile,
    changed: Vec<Arc<Slot>>,
}

impl<'d> Turn<'d> {
    pub(super) const fn new(door: &'d mut Door, ledger: &'d IndexFile) -> Self {
        Self {
            door,
            ledger,
            changed: Vec::new(),
        }
    }

    /// Returns what the index says of a session after the changes before this one.
    pub(crate) fn get(&self, key: &str) -> Result<Option<SessionEntry>, StoreError> {
        match self.door.changes.get(key) {
            Some(Some(slot)) => Ok(Some(slot.entry().clone())),
            Some(None) => Ok(None),
            None => {
                let known = self.ledger.known();
                let entry = known.index.get(key)?;
                Ok(entry.map(|entry| (*entry).clone()))
            }
        }
    }

    /// Returns the directory, to which nobody else adds a session meanwhile.
    pub(crate) const fn directory(&self) -> &Directory {
        &self.door.directory
    }

    /// Changes what the index says of a session.
    pub(crate) fn set(&mut self, key: &str, entry: &SessionEntry) -> Result<(), StoreError> {
        let old = match self.door.changes.get(key) {
            Some(Some(slot)) => Some(OldEntry {
                text: slot.text().to_owned(),
                entry: Some(slot.entry().clone()),
            }),
            Some(None) => None,
            None => self.ledger.known().index.old(key)?,
        };
        if let Some(slot) = Slot::changed(old, entry) {
            let slot = Arc::new(slot);
            self.changed.push(Arc::clone(&slot));
            self.door.changes.insert(Arc::from(key), Some(slot));
        }
        Ok(())
    }

    /// Takes a session out of the index.
    pub(crate) fn remove(&mut self, key: &str) {
        if self.ledger.known().index.has(key) {
            self.door.changes.insert(Arc::from(key), None);
        } else {
            self.door.changes.shift_remove(key);
        }
    }

    /// Tells whether a session has a transcript, if one may have come since the index was in a state.
    pub(crate) fn claims_since(&self, state: u64, transcript: &str) -> Result<bool, StoreError> {
        let is_it = |entry: &SessionEntry| entry.transcript_name().as_deref() == Some(transcript);
        let mut pending = self.door.changes.values().flatten();
        if pending.any(|slot| is_it(slot.entry())) {
            return Ok(true);
        }
        let known = self.ledger.known();
        if known.index.claims() == state {
            return Ok(false);
        }
        let mut is_claimed = false;
        known.index.each(|key, entry| {
            is_claimed |= is_it(&entry) && !self.door.changes.contains_key(key);
            if is_claimed {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(is_claimed)
    }

    /// Notes which key a new session has.
    pub(crate) fn note_key(&mut self, key: &str, transcript: &str) {
        self.door.keys.push(KeyLine::new(key, transcript));
    }

    /// Hands over what was found and done when the index was read.
    pub(crate) fn take_notes(&mut self, notes: &mut Vec<StoreNote>) {
        notes.append(&mut self.door.notes);
    }

    /// Returns the entries that it changed.
    pub(super) fn end(self) -> Vec<Arc<Slot>> {
        self.changed
    }
}
