//! The ledger's file: read once, then only written.

use super::{JobChange, OpenItem};
use crate::disk::{Directory, File, Open, damaged};
use crate::store::{LockMode, StoreError};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file.
pub(super) const NAME: &str = "ledger.jsonl";
/// What it is written to anew.
const NEXT: &str = ".ledger.jsonl.next";
/// Locked while a process has the ledger.
const LOCK: &str = "ledger.lock";
/// No honest ledger is longer.
const MAX_BYTES: u64 = 1 << 30;
/// A file that is shorter is not worth writing anew.
const SMALL: u64 = 1 << 20;
/// The file is written anew when it is so many times as long as what is open.
const SLACK: u64 = 4;

/// The ledger's file, and what is open in it.
#[derive(Debug)]
pub(super) struct LedgerFile {
    directory: Directory,
    file: File,
    length: u64,
    open: OpenItems,
    _lock: File,
}

/// What is open, by age.
#[derive(Debug, Default)]
struct OpenItems {
    by_age: BTreeMap<u64, (OpenItem, u64)>,
    ages: HashMap<String, u64>,
    next: u64,
    /// How many bytes of the file are about what is open, roughly.
    bytes: Arc<AtomicU64>,
}

impl OpenItems {
    /// Applies a batch that takes so many bytes.
    fn apply(&mut self, batch: Vec<JobChange>, bytes: usize) {
        let opens = |change: &&JobChange| matches!(change, JobChange::Open { .. });
        let each = bytes as u64 / (batch.iter().filter(opens).count().max(1) as u64);
        for change in batch {
            self.change(change, each);
        }
    }

    fn change(&mut self, change: JobChange, bytes: u64) {
        match change {
            JobChange::Open { id, body } => {
                self.close(&id);
                let age = self.next;
                self.next += 1;
                self.ages.insert(id.clone(), age);
                let marks = Vec::new();
                self.by_age
                    .insert(age, (OpenItem { id, body, marks }, bytes));
                self.bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            JobChange::Mark { id, mark } => {
                let age = self.ages.get(&id);
                if let Some((item, _)) = age.and_then(|age| self.by_age.get_mut(age)) {
                    item.marks.push(mark);
                }
            }
            JobChange::Close { id } => self.close(&id),
        }
    }

    fn close(&mut self, id: &str) {
        let age = self.ages.remove(id);
        if let Some((_, bytes)) = age.and_then(|age| self.by_age.remove(&age)) {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl LedgerFile {
    pub(super) fn open(path: &Path) -> Result<(Self, Vec<OpenItem>), StoreError> {
        let directory = Directory::make(path)?;
        let lock = required(&directory, LOCK)?;
        if !lock.lock(LockMode::Refuse)? {
            return Err(StoreError::Busy {
                key: directory.path_of(NAME).display().to_string(),
            });
        }
        let file = required(&directory, NAME)?;
        let bytes = file.read_all(MAX_BYTES)?;
        let mut open = OpenItems::default();
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = &bytes[..end.map_or(0, |end| end + 1)];
        for line in whole.split(|byte| *byte == b'\n') {
            // A line that is no batch is damage from outside; the others still count.
            if let Ok(changes) = serde_json::from_slice::<Vec<JobChange>>(line) {
                open.apply(changes, line.len());
            }
        }
        let items = open.by_age.values().map(|(item, _)| item.clone()).collect();
        let ledger = Self {
            length: whole.len() as u64,
            directory,
            file,
            open,
            _lock: lock,
        };
        if whole.len() < bytes.len() {
            // Nobody was told that the torn end is on the disk. It must not begin to count later.
            ledger.file.truncate(ledger.length)?;
        }
        Ok((ledger, items))
    }

    /// Returns how many bytes are about what is open, roughly; it goes on counting.
    pub(super) fn open_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.open.bytes)
    }

    /// Writes batches; with `sync` they are on the disk when this returns.
    pub(super) fn append(
        &mut self,
        batches: Vec<Vec<JobChange>>,
        sync: bool,
    ) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let mut lengths = Vec::with_capacity(batches.len());
        for batch in &batches {
            let before = bytes.len();
            serde_json::to_writer(&mut bytes, batch)
                .map_err(|error| damaged(self.file.path().to_path_buf(), error.to_string()))?;
            bytes.push(b'\n');
            lengths.push(bytes.len() - before);
        }
        self.write(&bytes, sync)?;
        for (batch, length) in batches.into_iter().zip(lengths) {
            self.open.apply(batch, length);
        }
        if self.length > SMALL {
            self.shorten()?;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        match written {
            Ok(()) => self.length += bytes.len() as u64,
            // What did not fit must not count later.
            Err(_) => self.file.truncate(self.length)?,
        }
        written
    }

    /// Writes the file anew, if little of it is about things that are open.
    fn shorten(&mut self) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        for (item, _) in self.open.by_age.values() {
            let mut batch = vec![JobChange::Open {
                id: item.id.clone(),
                body: item.body.clone(),
            }];
            batch.extend(item.marks.iter().map(|mark| JobChange::Mark {
                id: item.id.clone(),
                mark: mark.clone(),
            }));
            let line: Value = serde_json::to_value(&batch).unwrap_or_default();
            bytes.extend_from_slice(line.to_string().as_bytes());
            bytes.push(b'\n');
            if bytes.len() as u64 * SLACK > self.length {
                return Ok(());
            }
        }
        let next = self
            .directory
            .file(NEXT, Open::Replace)?
            .ok_or_else(|| damaged(self.directory.path_of(NEXT), "it cannot be made"))?;
        let written = next.write_all(&bytes).and_then(|()| next.sync_data());
        if let Err(error) = written {
            let _ = self.directory.remove(NEXT);
            return Err(error);
        }
        self.directory.rename(NEXT, NAME)?;
        self.directory.sync()?;
        self.file = required(&self.directory, NAME)?;
        self.length = bytes.len() as u64;
        Ok(())
    }
}

fn required(directory: &Directory, name: &str) -> Result<File, StoreError> {
    let file = directory.file(name, Open::AppendOrCreate)?;
    file.ok_or_else(|| damaged(directory.path_of(name), "it cannot be made"))
}
