//! How the index gets onto the disk: whole, or by a line beside it that is put into it later.

use super::file::{Base, IndexFile, Known, LogState, Owed, Trust, View};
use super::log::{self, Replay, Standing};
use super::table::{Index, Pending, Written};
use super::{CHANGES, IndexLock, NEXT};
use crate::compat;
use crate::disk::{ContentPrint, Directory, File, Fingerprint, Open, damaged, io};
use crate::store::StoreError;
use rustix::io::Errno;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The index is written whole again when the changes beside it are longer than this, and than a part of the index.
const LONG: u64 = 256 << 10;
/// That part.
const PART: u64 = 4;
/// Changes that rest for so long are put into the index.
const RESTS_FOR: Duration = Duration::from_secs(5);
/// And those that wait for so long, however busy the sessions are.
const WAITS_AT_MOST: Duration = Duration::from_mins(5);

/// What an index was written to.
struct Placed {
    written: Written,
    file: File,
    mark: Fingerprint,
}

impl IndexFile {
    /// Puts changes onto the disk. After a crash all of them are there or none. When `names_are_new`, files were made that the
    /// changes name; their names are on the disk too when this returns.
    pub(super) fn commit(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        changes: Pending,
        names_are_new: bool,
    ) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let known = self.known();
        if !known.is_read {
            return Err(io(self.directory(), Errno::INTR));
        }
        let Some(base) = self.line_base(&known) else {
            return self.write_whole(directory, lock, known, &changes);
        };
        let mut lines = Vec::new();
        log::write_changes(&mut lines, &changes, &known.index);
        drop(known);
        let log = self.append(directory, &lines, base, names_are_new)?;
        let mut known = self.known_mut();
        known.index.apply(changes, self.next_version());
        known.log = Some(log);
        let limit = LONG.max(known.base.as_ref().map_or(0, |base| base.print.size()) / PART);
        drop(known);
        self.owe();
        if log.print.size() > limit {
            // The changes are on the disk: if this fails, it is tried again with the next one.
            let _ = self.fold_locked(directory, lock);
        }
        Ok(())
    }

    /// Returns the index that a line of changes would belong to, if that is how it is changed now.
    fn line_base(&self, known: &Known) -> Option<ContentPrint> {
        let is_short = known
            .base
            .as_ref()
            .is_none_or(|base| base.print.size() < self.changes_from.load(Ordering::Relaxed));
        let is_odd = match &known.log {
            // Once there are changes, more come to them: they are put into the index when nobody waits.
            Some(log) => log.replay.standing != Standing::Own,
            None => is_short,
        };
        if is_odd || self.is_broken.load(Ordering::Relaxed) {
            return None;
        }
        known.base.as_ref().map(|base| base.print.content())
    }

    /// Adds lines to the changes, onto the disk. When it fails, nothing of them is there.
    fn append(
        &self,
        directory: &Directory,
        lines: &[u8],
        base: ContentPrint,
        names_are_new: bool,
    ) -> Result<LogState, StoreError> {
        let file = open_changes(directory)?;
        let length = file.len()?;
        let mut bytes = Vec::with_capacity(lines.len() + 256);
        if length == 0 {
            log::write_header(&mut bytes, Some(base));
        } else {
            // What a crash left of a line is then a line of its own.
            let mut last = [b'\n'];
            file.read_at(&mut last, length - 1)?;
            if last != *b"\n" {
                bytes.push(b'\n');
            }
        }
        bytes.extend_from_slice(lines);
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        let written = written.and_then(|()| {
            if names_are_new || length == 0 {
                directory.sync()?;
            }
            file.fingerprint()
        });
        match written {
            Ok(print) => Ok(LogState {
                print,
                read: print.size(),
                replay: Replay {
                    standing: Standing::Own,
                },
            }),
            Err(error) => {
                self.is_broken.store(true, Ordering::Relaxed);
                let _ = file.truncate(length).and_then(|()| file.sync_data());
                Err(error)
            }
        }
    }

    /// Remembers that the index does not say everything.
    fn owe(&self) {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let last = Instant::now();
        let first = owed.map_or(last, |owed| owed.first);
        *owed = Some(Owed { first, last });
    }

    /// Writes the index with changes, as a whole.
    fn write_whole(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        known: std::sync::RwLockReadGuard<'_, Known>,
        changes: &Pending,
    ) -> Result<(), StoreError> {
        let has_log = known.log.is_some();
        let placed = place_beside(&known.index, changes, directory, lock, has_log)?;
        drop(known);
        self.put_in_place(directory, placed, (None, changes), has_log)
    }

    /// Writes an index that was made anew.
    pub(super) fn restore(
        &self,
        directory: &Directory,
        lock: &IndexLock,
        index: Index,
    ) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let placed = place_beside(&index, &Pending::new(), directory, lock, true)?;
        self.put_in_place(directory, placed, (Some(index), &Pending::new()), true)
    }

    /// Puts an index in the place of the old one: after a crash there is one or the other. The names of all files that were
    /// made in the directory before are on the disk when this returns.
    fn put_in_place(
        &self,
        directory: &Directory,
        placed: Placed,
        (before, changes): (Option<Index>, &Pending),
        has_log: bool,
    ) -> Result<(), StoreError> {
        let mut known = self.known_mut();
        // The old one goes when the lock is free again.
        let mut old = std::mem::take(&mut *known);
        directory.rename(NEXT, compat::INDEX)?;
        if has_log {
            directory.remove(CHANGES)?;
        }
        // Whoever wrote to it since it was marked gave it another time: then it is read again.
        let print = placed.file.fingerprint()?;
        if print.has_content_of(&placed.mark) {
            let file = Arc::new(placed.file);
            let before = before.as_ref().unwrap_or(&old.index);
            let mut index = Index::of_written(placed.written, Arc::clone(&file), before, changes);
            index.numbered(self.next_version());
            *known = Known {
                index,
                is_read: true,
                base: Some(Base {
                    print,
                    trust: Trust::Full,
                    _file: file,
                }),
                log: None,
            };
        }
        drop(known);
        old.log = None;
        drop(old);
        self.is_broken.store(false, Ordering::Relaxed);
        *self.owed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        directory.sync()
    }

    /// Puts the changes into the index, if there are any.
    pub(crate) fn fold(&self) -> Result<(), StoreError> {
        let Some(directory) = Directory::open(self.directory())? else {
            return Ok(());
        };
        let lock = IndexLock::take(&directory)?;
        self.fold_locked(&directory, &lock)
    }

    /// The same; nobody changes the index as long as the lock lives.
    pub(crate) fn fold_and_hold(&self, directory: &Directory) -> Result<IndexLock, StoreError> {
        let lock = IndexLock::take(directory)?;
        self.fold_locked(directory, &lock)?;
        Ok(lock)
    }

    /// The same, if this process wrote any.
    pub(crate) fn fold_if_owed(&self) -> Result<(), StoreError> {
        let owed = *self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        match owed {
            Some(_) => self.fold(),
            None => Ok(()),
        }
    }

    /// The same, if they rest or wait for too long.
    pub(crate) fn fold_if_at_rest(&self) -> Result<(), StoreError> {
        let owed = *self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        match owed {
            Some(owed)
                if owed.last.elapsed() >= RESTS_FOR || owed.first.elapsed() >= WAITS_AT_MOST =>
            {
                self.fold()
            }
            Some(_) | None => Ok(()),
        }
    }

    fn fold_locked(&self, directory: &Directory, lock: &IndexLock) -> Result<(), StoreError> {
        let Ok(View::Known(known)) = self.read_file(directory)? else {
            // Whoever changes something next makes a new one, with the changes.
            return Ok(());
        };
        if known.log.is_none() {
            drop(known);
            *self.owed.lock().unwrap_or_else(PoisonError::into_inner) = None;
            return Ok(());
        }
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.write_whole(directory, lock, known, &Pending::new())
    }
}

impl Drop for IndexFile {
    /// The index says everything when nobody uses it any more.
    fn drop(&mut self) {
        let owed = self.owed.get_mut().unwrap_or_else(PoisonError::into_inner);
        if owed.is_some() {
            let _ = self.fold();
        }
    }
}

fn open_changes(directory: &Directory) -> Result<File, StoreError> {
    // A link or an odd file in its place is none of ours.
    let opened = match directory.file(CHANGES, Open::AppendOrCreate) {
        Err(StoreError::Damaged { .. }) => {
            directory.remove(CHANGES)?;
            directory.file(CHANGES, Open::AppendOrCreate)
        }
        opened => opened,
    };
    opened?.ok_or_else(|| damaged(directory.path_of(CHANGES), "it cannot be made"))
}

/// Writes an index beside its place, onto the disk. If there are changes beside the old one, they say which index has them.
fn place_beside(
    index: &Index,
    changes: &Pending,
    directory: &Directory,
    _lock: &IndexLock,
    has_log: bool,
) -> Result<Placed, StoreError> {
    let path = directory.path_of(NEXT);
    // A link or an odd file in its place is none of ours.
    let next = match directory.file(NEXT, Open::Fresh) {
        Err(StoreError::Damaged { .. }) => {
            directory.remove(NEXT)?;
            directory.file(NEXT, Open::Fresh)
        }
        next => next,
    };
    let file = next?.ok_or_else(|| damaged(path, "it cannot be made"))?;
    let written = index.write(changes, &file).and_then(|written| {
        let mark = file.mark()?;
        file.sync_data()?;
        if has_log && let Some(log) = directory.file(CHANGES, Open::Append)? {
            let mut line = vec![b'\n'];
            log::write_folded(&mut line, mark.content());
            log.write_all(&line)?;
            log.sync_data()?;
        }
        Ok((written, mark))
    });
    match written {
        Ok((written, mark)) => Ok(Placed {
            written,
            file,
            mark,
        }),
        Err(error) => {
            let _ = directory.remove(NEXT);
            Err(error)
        }
    }
}
