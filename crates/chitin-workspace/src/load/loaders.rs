//! Many workspaces in bounded memory.

use super::{LoadError, LoadOptions, Loader};
use crate::snapshot::Workspace;
use chitin_contract::Contract;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Remembers loaders by directory and contract; forgets the least recently used ones when their text outgrows the bound.
#[derive(Debug)]
pub struct Loaders {
    options: LoadOptions,
    max_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    known: HashMap<Key, Known>,
    /// Who was loaded, in order, with the time of that load; older entries of the same workspace are stale.
    awake: VecDeque<(Key, u64)>,
    bytes: usize,
    clock: u64,
}

type Key = (PathBuf, &'static str);

#[derive(Debug)]
struct Known {
    loader: Arc<Loader>,
    bytes: usize,
    used: u64,
}

/// How many directories are held open at once, well below the usual limit of 1024 descriptors for a process.
const MAX_OPEN: usize = 256;

/// What a loader costs beside the text: descriptors, paths, slots.
const OVERHEAD_BYTES: usize = 4096;

impl Loaders {
    /// Starts empty. `max_bytes` bounds the text kept in memory; at least one workspace is always kept. Descriptors are
    /// bounded too: only the most recently used workspaces keep theirs open.
    pub fn new(options: LoadOptions, max_bytes: usize) -> Self {
        Self {
            options,
            max_bytes,
            inner: Mutex::default(),
        }
    }

    /// Loads a workspace, from memory where nothing changed.
    pub fn load(
        &self,
        path: &Path,
        contract: &'static Contract,
    ) -> Result<Arc<Workspace>, LoadError> {
        let loader = self.loader(path, contract);
        // The lock is not held while the disk is looked at: one slow workspace does not hold up the others.
        let outcome = loader.load();
        // A directory that cannot be read is remembered too, and counts.
        let bytes = outcome
            .as_ref()
            .map_or(OVERHEAD_BYTES, |snapshot| size_of(snapshot));
        self.account(path, contract, bytes);
        self.close_one();
        outcome
    }

    /// Returns how many workspaces are remembered, and how many bytes they hold.
    pub fn usage(&self) -> (usize, usize) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.known.len(), inner.bytes)
    }

    fn loader(&self, path: &Path, contract: &'static Contract) -> Arc<Loader> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let clock = inner.clock;
        let key = (path.to_path_buf(), contract.name);
        let known = inner.known.entry(key.clone()).or_insert_with(|| Known {
            loader: Arc::new(Loader::new(path, contract, &self.options)),
            bytes: 0,
            used: clock,
        });
        known.used = clock;
        let loader = Arc::clone(&known.loader);
        inner.awake.push_back((key, clock));
        loader
    }

    /// Closes the descriptor of the least recently used open workspace when there are too many.
    fn close_one(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let asleep = loop {
            if inner.awake.len() <= MAX_OPEN {
                return;
            }
            let Some((key, used)) = inner.awake.pop_front() else {
                return;
            };
            // A later load put it at the end again; this place in the row is out of date.
            if let Some(known) = inner.known.get(&key).filter(|known| known.used == used) {
                break Arc::clone(&known.loader);
            }
        };
        drop(inner);
        asleep.sleep();
    }

    fn account(&self, path: &Path, contract: &'static Contract, bytes: usize) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path.to_path_buf(), contract.name);
        let Some(known) = inner.known.get_mut(&key) else {
            return;
        };
        let before = std::mem::replace(&mut known.bytes, bytes);
        inner.bytes = inner.bytes - before + bytes;
        while inner.bytes > self.max_bytes && inner.known.len() > 1 {
            let oldest = inner
                .known
                .iter()
                .filter(|(other, _)| **other != key)
                .min_by_key(|(_, known)| known.used);
            let Some(oldest) = oldest.map(|(other, _)| other.clone()) else {
                break;
            };
            if let Some(gone) = inner.known.remove(&oldest) {
                inner.bytes -= gone.bytes;
            }
        }
    }
}

fn size_of(snapshot: &Workspace) -> usize {
    let text = |bytes: usize, content: &crate::snapshot::FileContent| {
        bytes + content.text.len() + content.invalid.as_ref().map_or(0, |raw| raw.len())
    };
    snapshot
        .records()
        .iter()
        .filter_map(|record| record.content())
        .fold(OVERHEAD_BYTES, text)
}
