//! The index of one directory, as this process knows it: read again only when the file is another, and then only what is new.

use super::batch::Batches;
use super::log::{Replay, ReplayError, Standing};
use super::table::{Index, Keep};
use super::{CHANGES, IndexLock, NoIndex};
use crate::compat;
use crate::disk::{self, Directory, File, Fingerprint, Open, damaged};
use crate::rebuild;
use crate::store::{StoreError, StoreNote};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// No clock that dates files ticks more slowly.
const TICK: Duration = Duration::from_millis(20);
/// How often a file is read that others write to meanwhile.
const MAX_READS: usize = 16;
/// No honest list of changes is longer.
const MAX_CHANGES_BYTES: u64 = 512 << 20;
/// Indexes from this length on are changed by a line beside them; shorter ones are written again, which costs no more.
const CHANGES_FROM: u64 = 64 << 10;

/// The index of one directory, as this process knows it. Shared by all who use the directory through one store.
#[derive(Debug)]
pub(crate) struct IndexFile {
    directory: PathBuf,
    path: PathBuf,
    changes: PathBuf,
    pub(super) known: RwLock<Known>,
    /// One thread reads; the others take what it found.
    reading: Mutex<()>,
    pub(super) batches: Batches,
    pub(super) writes: AtomicU64,
    versions: AtomicU64,
    /// From which length on the index is changed by lines beside it.
    pub(super) changes_from: AtomicU64,
    /// A line could not be written: the index is written whole before anything else.
    pub(super) is_broken: AtomicBool,
    /// When this process last wrote a line that the index does not say yet.
    pub(super) owed: Mutex<Option<Owed>>,
}

/// Lines that the index does not say yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owed {
    pub(super) first: Instant,
    pub(super) last: Instant,
}

/// What was read or written last.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(super) index: Index,
    /// Whether there is anything to know yet.
    pub(super) is_read: bool,
    pub(super) base: Option<Base>,
    pub(super) log: Option<LogState>,
}

/// The file of the index.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) print: Fingerprint,
    pub(super) trust: Trust,
    /// As long as it is open, no other file gets its inode.
    pub(super) _file: Arc<File>,
}

/// The file of changes beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogState {
    pub(super) print: Fingerprint,
    /// How much of it was whole lines.
    pub(super) read: u64,
    pub(super) replay: Replay,
}

/// What an equal fingerprint says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trust {
    /// That the content is the same.
    Full,
    /// Nothing yet: the file was first seen then, and may be written to again in the same tick of the clock.
    Since(Instant),
}

/// The index, to be looked at. Changes wait as long as it is looked at.
pub(crate) enum View<'f> {
    /// What is known.
    Known(RwLockReadGuard<'f, Known>),
    /// What is not in any file.
    Made(Box<Index>),
}

impl Deref for View<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        match self {
            Self::Known(known) => &known.index,
            Self::Made(index) => index,
        }
    }
}

impl IndexFile {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            path: directory.join(compat::INDEX),
            changes: directory.join(CHANGES),
            directory,
            known: RwLock::default(),
            reading: Mutex::default(),
            batches: Batches::default(),
            writes: AtomicU64::new(0),
            versions: AtomicU64::new(0),
            changes_from: AtomicU64::new(CHANGES_FROM),
            is_broken: AtomicBool::new(false),
            owed: Mutex::default(),
        }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns how many times the index was written.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn change_by_lines_from(&self, bytes: u64) {
        self.changes_from.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn next_version(&self) -> u64 {
        self.versions.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn known_mut(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the index, or one made from the transcripts; `None` when there is no directory. Nothing is written.
    pub(crate) fn read(&self) -> Result<Option<View<'_>>, StoreError> {
        if let Some(known) = self.unchanged()? {
            return Ok(Some(known));
        }
        let Some(directory) = Directory::open(&self.directory)? else {
            return Ok(None);
        };
        match self.read_file(&directory)? {
            Ok(view) => Ok(Some(view)),
            Err(NoIndex::Missing | NoIndex::Damaged) => {
                Ok(Some(View::Made(Box::new(self.remake(&directory)?))))
            }
        }
    }

    /// Makes the index from the transcripts, and from what changes beside it tell.
    fn remake(&self, directory: &Directory) -> Result<Index, StoreError> {
        let mut index = rebuild::from_transcripts(directory)?;
        self.read_changes(directory, None, &mut index)?;
        index.numbered(self.next_version());
        Ok(index)
    }

    /// Returns the index if there is one.
    pub(crate) fn read_file(
        &self,
        directory: &Directory,
    ) -> Result<Result<View<'_>, NoIndex>, StoreError> {
        if let Some(known) = self.unchanged()? {
            return Ok(Ok(known));
        }
        let _one = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.unchanged()? {
            return Ok(Ok(known));
        }
        if self.follow(directory)? {
            return Ok(Ok(View::Known(self.known())));
        }
        let mut reads = 0;
        loop {
            reads += 1;
            let now = Instant::now();
            let Some(file) = directory.file(compat::INDEX, Open::Read)? else {
                return Ok(Err(NoIndex::Missing));
            };
            let file = Arc::new(file);
            let print = file.fingerprint()?;
            let bytes = file.read_all(super::MAX_BYTES)?;
            let is_last = reads == MAX_READS;
            let keep = if is_last {
                Keep::InMemory
            } else {
                Keep::InFile
            };
            let parsed = Index::parse(&file, &bytes, keep);
            drop(bytes);
            let is_as_it_was = file.fingerprint()? == print;
            let Some(mut index) = parsed else {
                return Ok(Err(NoIndex::Damaged));
            };
            if !is_as_it_was && !is_last {
                continue;
            }
            let log = self.read_changes(directory, Some(&print), &mut index)?;
            index.numbered(self.next_version());
            if is_last {
                return Ok(Ok(View::Made(Box::new(index))));
            }
            // Whoever puts the changes into the index writes the index first, and then takes the changes away.
            let is_log_there = match &log {
                Some(log) => {
                    disk::peek(&self.changes)?.is_some_and(|now| now.is_same_file(&log.print))
                }
                None => disk::peek(&self.changes)?.is_none(),
            };
            if disk::peek(&self.path)? != Some(print) || !is_log_there {
                continue;
            }
            self.keep(index, (file, print), log, now);
            return Ok(Ok(View::Known(self.known())));
        }
    }

    /// Keeps what was read.
    fn keep(
        &self,
        index: Index,
        (file, print): (Arc<File>, Fingerprint),
        log: Option<LogState>,
        now: Instant,
    ) {
        let mut known = self.known_mut();
        let before = known.base.as_ref().filter(|base| base.print == print);
        let trust = match before.map(|base| base.trust) {
            Some(Trust::Since(first)) if now.duration_since(first) >= TICK => Trust::Full,
            Some(trust) => trust,
            None => Trust::Since(now),
        };
        *known = Known {
            index,
            is_read: true,
            base: Some(Base {
                print,
                trust,
                _file: file,
            }),
            log,
        };
    }

    /// Returns the index that is known, if its files are what they were: two system calls.
    fn unchanged(&self) -> Result<Option<View<'_>>, StoreError> {
        let known = self.known();
        if !known.is_read || !self.is_base_unchanged(&known)? {
            return Ok(None);
        }
        let is_same = match (&known.log, disk::peek(&self.changes)?) {
            (None, None) => true,
            (Some(log), Some(now)) => {
                log.print.is_same_file(&now) && log.print.size() == now.size()
            }
            (None, Some(_)) | (Some(_), None) => false,
        };
        Ok(is_same.then_some(View::Known(known)))
    }

    fn is_base_unchanged(&self, known: &Known) -> Result<bool, StoreError> {
        let now = disk::peek(&self.path)?;
        Ok(match &known.base {
            Some(base) => match base.trust {
                Trust::Full => now == Some(base.print),
                Trust::Since(_) => false,
            },
            None => now.is_none(),
        })
    }

    /// Reads what others added to the changes since; `false` when that is not all that is new.
    fn follow(&self, directory: &Directory) -> Result<bool, StoreError> {
        let mut known = self.known_mut();
        if !known.is_read || !self.is_base_unchanged(&known)? {
            return Ok(false);
        }
        let print = known.base.as_ref().map(|base| base.print);
        let Some(log) = known.log else {
            let log = self.read_changes(directory, print.as_ref(), &mut known.index)?;
            // Gone again: then it is in an index that was not there yet.
            if log.is_none() {
                known.is_read = false;
                return Ok(false);
            }
            known.log = log;
            known.index.numbered(self.next_version());
            return self.is_base_unchanged(&known);
        };
        let Some(file) = directory.file(CHANGES, Open::Read)? else {
            return Ok(false);
        };
        let now = file.fingerprint()?;
        if !now.is_same_file(&log.print) || now.size() < log.print.size() {
            return Ok(false);
        }
        let length = usize::try_from(now.size().saturating_sub(log.read)).unwrap_or_default();
        let mut bytes = vec![0; length];
        let read = file.read_at(&mut bytes, log.read)?;
        let whole = log.replay.apply(&bytes[..read], &mut known.index);
        known.log = Some(LogState {
            print: now,
            read: log.read + whole as u64,
            replay: log.replay,
        });
        known.index.numbered(self.next_version());
        Ok(true)
    }

    /// Makes the changes that the file beside the index tells of; `None` when there is none.
    fn read_changes(
        &self,
        directory: &Directory,
        base: Option<&Fingerprint>,
        index: &mut Index,
    ) -> Result<Option<LogState>, StoreError> {
        let file = match directory.file(CHANGES, Open::Read) {
            // A link or an odd file in its place is none of ours.
            Err(StoreError::Damaged { .. }) => None,
            file => file?,
        };
        let Some(file) = file else {
            return Ok(None);
        };
        let print = file.fingerprint()?;
        let bytes = file.read_all(MAX_CHANGES_BYTES)?;
        let replay = match Replay::of(&bytes, base.map(Fingerprint::content)) {
            // What is made from the transcripts knows less than any change, whenever they were written.
            Ok(_) if base.is_none() => Replay::default(),
            Ok(replay) => replay,
            // Whoever began it wrote no change.
            Err(ReplayError::NoHeader) => Replay {
                standing: Standing::Folded,
            },
            Err(ReplayError::Newer) => {
                return Err(damaged(
                    self.changes.clone(),
                    "a later version of Chitin wrote it",
                ));
            }
        };
        let read = replay.apply(&bytes, index) as u64;
        Ok(Some(LogState {
            print,
            read,
            replay,
        }))
    }

    /// Reads the index to change it; if there is none or it is damaged, makes one from the transcripts and puts it in its
    /// place. The damaged one is set aside.
    pub(super) fn read_or_restore(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        notes: &mut Vec<StoreNote>,
    ) -> Result<(), StoreError> {
        let missing = match self.read_file(directory)? {
            Ok(View::Known(_)) => return Ok(()),
            Ok(View::Made(_)) => {
                return Err(damaged(
                    self.path.clone(),
                    "another program writes to it all the time",
                ));
            }
            Err(missing) => missing,
        };
        let index = self.remake(directory)?;
        let set_aside = match missing {
            NoIndex::Missing if index.is_empty() => {
                let mut known = self.known_mut();
                *known = Known {
                    index,
                    is_read: true,
                    ..Known::default()
                };
                return Ok(());
            }
            NoIndex::Missing => None,
            NoIndex::Damaged => {
                let free = (1..).map(|n| format!("{}.damaged-{n}", compat::INDEX));
                let name = directory.set_aside(compat::INDEX, free)?;
                Some(directory.path_of(&name))
            }
        };
        self.restore(directory, lock, index)?;
        notes.push(StoreNote::IndexRebuilt { set_aside });
        Ok(())
    }
}
