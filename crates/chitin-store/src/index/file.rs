//! The index of one directory, as this process knows it: read again only when the file is another, written once for all who
//! change it at the same time.

use super::batch::Batches;
use super::{Index, IndexLock, NEXT, NoIndex};
use crate::compat;
use crate::disk::{self, Directory, File, Fingerprint, Open};
use crate::rebuild;
use crate::store::{StoreError, StoreNote};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// No clock that dates files ticks more slowly.
const TICK: Duration = Duration::from_millis(20);

/// The index of one directory, as this process knows it. Shared by all who use the directory through one store.
#[derive(Debug)]
pub(crate) struct IndexFile {
    directory: PathBuf,
    path: PathBuf,
    known: RwLock<Option<Known>>,
    /// One thread reads; the others take what it found.
    reading: Mutex<()>,
    pub(super) batches: Batches,
    writes: AtomicU64,
}

/// What was read or written last.
#[derive(Debug)]
struct Known {
    index: Arc<Index>,
    print: Fingerprint,
    trust: Trust,
    /// As long as it is open, no other file gets its inode.
    _file: File,
}

/// What an equal fingerprint says.
#[derive(Debug, Clone, Copy)]
enum Trust {
    /// That the content is the same.
    Full,
    /// Nothing yet: the file was first seen then, and may be written to again in the same tick of the clock.
    Since(Instant),
}

impl IndexFile {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            path: directory.join(compat::INDEX),
            directory,
            known: RwLock::default(),
            reading: Mutex::default(),
            batches: Batches::default(),
            writes: AtomicU64::new(0),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns how many times the index was written.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Returns the index, or one made from the transcripts; `None` when there is no directory. Nothing is written.
    pub(crate) fn read(&self) -> Result<Option<Arc<Index>>, StoreError> {
        if let Some(index) = self.unchanged()? {
            return Ok(Some(index));
        }
        let Some(directory) = Directory::open(&self.directory)? else {
            return Ok(None);
        };
        match self.read_file(&directory)? {
            Ok(index) => Ok(Some(index)),
            Err(NoIndex::Missing | NoIndex::Damaged) => {
                Ok(Some(Arc::new(rebuild::from_transcripts(&directory)?)))
            }
        }
    }

    /// Returns the index if there is one.
    pub(crate) fn read_file(
        &self,
        directory: &Directory,
    ) -> Result<Result<Arc<Index>, NoIndex>, StoreError> {
        if let Some(index) = self.unchanged()? {
            return Ok(Ok(index));
        }
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.unchanged()? {
            return Ok(Ok(index));
        }
        let now = Instant::now();
        let Some(file) = directory.file(compat::INDEX, Open::Read)? else {
            return Ok(Err(NoIndex::Missing));
        };
        let print = file.fingerprint()?;
        let Some(index) = Index::read_file(&file)? else {
            return Ok(Err(NoIndex::Damaged));
        };
        let index = Arc::new(index);
        if file.fingerprint()? == print {
            self.keep(Arc::clone(&index), file, print, now)?;
        }
        Ok(Ok(index))
    }

    /// Keeps what was read, unless the file was replaced meanwhile.
    fn keep(
        &self,
        index: Arc<Index>,
        file: File,
        print: Fingerprint,
        now: Instant,
    ) -> Result<(), StoreError> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if disk::peek(&self.path)? != Some(print) {
            return Ok(());
        }
        let trust = match known.as_ref().filter(|known| known.print == print) {
            Some(Known {
                trust: Trust::Since(first),
                ..
            }) if now.duration_since(*first) >= TICK => Trust::Full,
            Some(known) => known.trust,
            None => Trust::Since(now),
        };
        *known = Some(Known {
            index,
            print,
            trust,
            _file: file,
        });
        Ok(())
    }

    /// Returns the index that is known, if its file is what it was: one system call.
    fn unchanged(&self) -> Result<Option<Arc<Index>>, StoreError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(
                known @ Known {
                    trust: Trust::Full, ..
                },
            ) if disk::peek(&self.path)? == Some(known.print) => Ok(Some(Arc::clone(&known.index))),
            Some(_) | None => Ok(None),
        }
    }

    /// Reads the index to change it; if there is none or it is damaged, makes one from the transcripts and puts it in its
    /// place. The damaged one is set aside.
    pub(super) fn read_or_restore(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        notes: &mut Vec<StoreNote>,
    ) -> Result<Arc<Index>, StoreError> {
        let missing = match self.read_file(directory)? {
            Ok(index) => return Ok(index),
            Err(missing) => missing,
        };
        let index = Arc::new(rebuild::from_transcripts(directory)?);
        let set_aside = match missing {
            NoIndex::Missing if index.is_empty() => return Ok(index),
            NoIndex::Missing => None,
            NoIndex::Damaged => {
                let free = (1..).map(|n| format!("{}.damaged-{n}", compat::INDEX));
                let name = directory.set_aside(compat::INDEX, free)?;
                Some(directory.path_of(&name))
            }
        };
        self.write(directory, lock, Arc::clone(&index))?;
        notes.push(StoreNote::IndexRebuilt { set_aside });
        Ok(index)
    }

    /// Puts an index in the place of the old one: after a crash there is one or the other. The names of all files that were
    /// made in the directory before are on the disk when this returns.
    pub(super) fn write(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        index: Arc<Index>,
    ) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let (file, mark) = index.write_beside(directory, lock)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // The old one goes when the lock is free again.
        let _old = known.take();
        directory.rename(NEXT, compat::INDEX)?;
        // Whoever wrote to it since it was marked gave it another time: then it is read again.
        let print = file.fingerprint()?;
        if print.has_content_of(&mark) {
            *known = Some(Known {
                index,
                print,
                trust: Trust::Full,
                _file: file,
            });
        }
        drop(known);
        directory.sync()
    }
}
