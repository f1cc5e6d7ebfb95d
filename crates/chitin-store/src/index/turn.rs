//! A thread's turn to change the index.

use super::batch::Batch;
use super::slot::Slot;
use super::{Index, IndexLock};
use crate::disk::Directory;
use crate::rebuild::KeyLine;
use crate::store::{SessionEntry, StoreError, StoreNote};
use std::sync::Arc;

/// What the threads of a batch change, one after the other.
#[derive(Debug)]
pub(super) struct Door {
    pub(super) batch: Arc<Batch>,
    pub(super) directory: Directory,
    pub(super) lock: IndexLock,
    pub(super) index: Arc<Index>,
    /// Whether the index is another than that in the file.
    pub(super) is_different: bool,
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
        index: Arc<Index>,
        notes: Vec<StoreNote>,
    ) -> Self {
        Self {
            batch,
            directory,
            lock,
            index,
            is_different: false,
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
    changed: Vec<Arc<Slot>>,
}

impl<'d> Turn<'d> {
    pub(super) const fn new(door: &'d mut Door) -> Self {
        Self {
            door,
            changed: Vec::new(),
        }
    }

    /// Returns the index as it is after the changes before this one.
    pub(crate) fn index(&self) -> &Index {
        &self.door.index
    }

    /// Returns the directory, to which nobody else adds a session meanwhile.
    pub(crate) const fn directory(&self) -> &Directory {
        &self.door.directory
    }

    /// Changes what the index says of a session.
    pub(crate) fn set(&mut self, key: &str, entry: &SessionEntry) {
        if let Some(slot) = Arc::make_mut(&mut self.door.index).set(key, entry) {
            self.changed.push(Arc::clone(slot));
            self.door.is_different = true;
        }
    }

    /// Takes a session out of the index.
    pub(crate) fn remove(&mut self, key: &str) {
        self.door.is_different |= Arc::make_mut(&mut self.door.index).remove(key);
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
