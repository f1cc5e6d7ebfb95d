//! Writes at the end of a transcript: all of a batch or nothing of it.

use crate::disk::File;
use crate::store::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A transcript that this process has the lock of.
#[derive(Debug)]
pub(crate) struct Appender {
    shared: Arc<Shared>,
    /// How long the file is; everything before is whole records.
    length: u64,
}

/// What a pending write shares with the session.
#[derive(Debug)]
struct Shared {
    file: File,
    /// A write failed, and nobody knows what of it is on the disk.
    poisoned: AtomicBool,
}

/// Waits for the disk.
pub(crate) struct Ticket(Arc<Shared>);

impl Appender {
    pub(crate) fn new(file: File, length: u64) -> Self {
        Self {
            shared: Arc::new(Shared {
                file,
                poisoned: AtomicBool::new(false),
            }),
            length,
        }
    }

    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn file(&self) -> &File {
        &self.shared.file
    }

    /// Writes lines and waits until they are on the disk. When it fails, nothing of them is there.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<(), StoreError> {
        let before = self.length;
        let ticket = self.write(lines)?;
        let Err(error) = self.shared.file.sync_data() else {
            return Ok(());
        };
        drop(ticket);
        if Arc::strong_count(&self.shared) > 1 {
            // Earlier records are still on their way, and a failed write may have taken them along.
            return Err(self.shared.poison());
        }
        self.take_back(before)?;
        Err(error)
    }

    /// Writes lines and does not wait.
    pub(crate) fn write(&mut self, lines: &[u8]) -> Result<Ticket, StoreError> {
        if self.shared.poisoned.load(Ordering::Acquire) {
            return Err(self.shared.poison());
        }
        if let Err(error) = self.shared.file.write_all(lines) {
            self.take_back(self.length)?;
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(Ticket(Arc::clone(&self.shared)))
    }

    /// Cuts off what a failed write left behind.
    fn take_back(&mut self, length: u64) -> Result<(), StoreError> {
        let cut = self
            .shared
            .file
            .truncate(length)
            .and_then(|()| self.shared.file.sync_data());
        match cut {
            Ok(()) => {
                self.length = length;
                Ok(())
            }
            Err(_) => Err(self.shared.poison()),
        }
    }
}

impl Shared {
    fn poison(&self) -> StoreError {
        self.poisoned.store(true, Ordering::Release);
        StoreError::Poisoned {
            path: self.file.path().to_path_buf(),
        }
    }
}

impl Ticket {
    /// Returns once everything that was written is on the disk.
    pub(crate) fn wait(self) -> Result<(), StoreError> {
        if self.0.poisoned.load(Ordering::Acquire) {
            return Err(self.0.poison());
        }
        self.0.file.sync_data().inspect_err(|_| {
            // Records may have been appended after these, so nothing can be cut off here.
            let _ = self.0.poison();
        })
    }
}
