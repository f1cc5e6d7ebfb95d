//! The file of the job log: read once, then only appended to, and written anew when most of it is about what is done.

use super::JobChange;
use super::contents::Contents;
use super::health::{JobLogDamage, JobLogEvent, SharedHealth};
use super::items::{Known, OpenItems};
use super::line::Line;
use super::outcomes::Place;
use super::{OpenItem, aside, line, outcomes};
use crate::disk::{Directory, File, Fingerprint, Open, damaged, peek};
use crate::store::{LockMode, StoreError};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file.
pub(super) const NAME: &str = "ledger.jsonl";
/// What it is written to anew.
pub(super) const NEXT: &str = ".ledger.jsonl.next";
/// Locked while a process has the log. Not empty once there was a log of the format that is written.
pub(super) const LOCK: &str = "ledger.lock";
/// No honest log is longer.
pub(super) const MAX_BYTES: u64 = 1 << 30;
/// A file that is shorter is not worth writing anew.
const SMALL: u64 = 1 << 20;
/// The file is written anew when it is so many times as long as what is open.
const SLACK: u64 = 4;

/// The file, and what is open in it.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    directory: Directory,
    lock: File,
    /// The file and its fingerprint.
    file: Option<(File, Fingerprint)>,
    /// Whether it is written anew before anything is appended.
    is_stale: bool,
    length: u64,
    /// The number of the last line.
    last: u64,
    open: OpenItems,
    /// Whether the name of the file may not be on the disk yet.
    is_unnamed: bool,
    /// How long the file must be before it is looked at whether it is worth writing anew.
    shorten_at: u64,
    health: SharedHealth,
}

impl LogFile {
    pub(super) fn open(
        path: &Path,
        health: SharedHealth,
        known: Known,
        wait: LockMode,
    ) -> Result<(Self, Vec<OpenItem>), StoreError> {
        let directory = Directory::make(path)?;
        let lock = locked(&directory, wait)?;
        let mut log = Self {
            path: path.to_path_buf(),
            file: None,
            is_stale: true,
            length: 0,
            last: 0,
            open: OpenItems::default(),
            is_unnamed: false,
            shorten_at: SMALL,
            health,
            directory,
            lock,
        };
        let file = log.directory.file(NAME, Open::Append)?;
        let bytes = match &file {
            Some(file) => file.read_all(MAX_BYTES)?,
            None => Vec::new(),
        };
        let contents = Contents::read(&bytes, known);
        if let Some(version) = contents.newer {
            let reason = format!(
                "a newer version wrote it (format {version}); use that one, or run its `chitin storage downgrade`"
            );
            return Err(damaged(log.directory.path_of(NAME), reason));
        }
        log.note_damage(&contents, file.as_ref(), &bytes)?;
        if contents.torn > 0 {
            log.health.change(|health| health.torn += 1);
        }
        log.is_stale = !contents.is_current || !contents.damage.is_none();
        log.open = contents.open;
        if let Some(file) = file {
            if contents.torn > 0 && !log.is_stale {
                // Nobody was told that the torn end is on the disk. It must not begin to count later.
                file.truncate(contents.whole)?;
            }
            let print = file.fingerprint()?;
            (log.length, log.last) = (contents.whole, contents.last);
            log.file = Some((file, print));
        }
        if bytes.is_empty() {
            log.write_anew()?;
        } else if !contents.damage.is_none() {
            // If there is no room for it now, it is done before anything is appended.
            let _ = log.write_anew();
        }
        let items = log.open.iter().cloned().collect();
        Ok((log, items))
    }

    /// Sets a damaged file aside and remembers what is wrong with it.
    fn note_damage(
        &self,
        contents: &Contents,
        file: Option<&File>,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        // An empty log has a first line.
        let is_gone = bytes.is_empty() && self.lock.len()? > 0;
        if contents.damage.is_none() && !is_gone {
            return Ok(());
        }
        let set_aside = match file {
            Some(file) if !is_gone => aside::copy(&self.directory, file, bytes).ok(),
            Some(_) | None => None,
        };
        let damage = JobLogDamage {
            path: self.directory.path_of(NAME),
            bytes: contents.damage.bytes,
            lines: contents.damage.lines,
            misplaced: contents.damage.misplaced,
            set_aside,
            is_gone,
        };
        self.health.change(|health| health.damage = Some(damage));
        Ok(())
    }

    /// Returns how many bytes are about what is open, roughly; it goes on counting.
    pub(super) fn open_bytes(&self) -> Arc<AtomicU64> {
        Arc::clone(self.open.bytes())
    }

    /// Goes on counting what is open with a counter that others look at.
    pub(super) fn count_with(&mut self, bytes: &Arc<AtomicU64>) {
        self.open.count_with(bytes);
    }

    /// Sees to it that whoever opens the log next finds all of it at its path, on the disk.
    pub(super) fn settle(&mut self) -> Result<(), StoreError> {
        self.make_usable()?;
        match &self.file {
            Some((file, _)) => file.sync_data(),
            None => Ok(()),
        }
    }

    /// Returns where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the names that others may ask for.
    pub(super) const fn known(&self) -> &Known {
        self.open.known()
    }

    /// Writes batches; with `sync` they are on the disk when this returns. If it fails, none of them counts.
    pub(super) fn append<'b>(
        &mut self,
        batches: impl Iterator<Item = &'b Vec<JobChange>> + Clone,
        sync: bool,
    ) -> Result<(), StoreError> {
        self.make_usable()?;
        let mut bytes = Vec::new();
        let mut lengths = Vec::new();
        let mut number = self.last;
        for batch in batches.clone() {
            let before = bytes.len();
            number += 1;
            line::write(&mut bytes, number, batch).map_err(|error| self.unwritable(&error))?;
            lengths.push(bytes.len() - before);
        }
        self.write(&bytes, sync)?;
        self.last = number;
        let mut offset = self.length - bytes.len() as u64;
        for (batch, length) in batches.zip(lengths) {
            self.open.apply(batch.clone(), offset, length as u64);
            offset += length as u64;
        }
        if self.length > self.shorten_at {
            self.shorten();
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        let Some((file, _)) = &self.file else {
            return Err(damaged(self.directory.path_of(NAME), "it is not open"));
        };
        let stored = match file.write_all(bytes) {
            Ok(()) if sync => file.sync_data().map_err(|error| (error, true)),
            Ok(()) => Ok(()),
            Err(error) => Err((error, false)),
        };
        let Err((error, is_unknown)) = stored else {
            self.length += bytes.len() as u64;
            return Ok(());
        };
        // What was refused must not count later, whatever of it is on the disk. After a failed sync nobody knows what is
        // there, so that a new file is begun.
        let undone = file.truncate(self.length).and_then(|()| file.sync_data());
        self.is_stale |= is_unknown || undone.is_err();
        Err(error)
    }

    /// Sees to it that the open file is the file at the path, and that its name is on the disk.
    pub(super) fn make_usable(&mut self) -> Result<(), StoreError> {
        let there = peek(&self.path.join(NAME))?;
        let is_ours =
            |(_, print): &(File, Fingerprint)| there.is_some_and(|there| there.is_same_file(print));
        if !self.file.as_ref().is_some_and(is_ours) {
            self.begin_again(there.is_some())?;
        } else if self.is_stale {
            self.write_anew()?;
        }
        if self.is_unnamed {
            self.directory.sync()?;
            self.is_unnamed = false;
        }
        Ok(())
    }

    /// The file was deleted or replaced, perhaps with its directory: what is open goes into a new one.
    fn begin_again(&mut self, is_replaced: bool) -> Result<(), StoreError> {
        self.find_directory()?;
        if is_replaced {
            aside::rename(&self.directory)?;
        }
        self.write_anew()?;
        self.health.change(|health| health.recreated += 1);
        let path = self.directory.path_of(NAME);
        self.health.tell(&JobLogEvent::Recreated(path));
        Ok(())
    }

    /// Opens the directory again, which is made if it is gone, and locks the log there.
    fn find_directory(&mut self) -> Result<(), StoreError> {
        let directory = Directory::make(&self.path)?;
        let ours = self.lock.fingerprint()?;
        let lock = peek(&self.path.join(LOCK))?;
        if !lock.is_some_and(|lock| lock.is_same_file(&ours)) {
            self.lock = locked(&directory, LockMode::Refuse)?;
        }
        self.directory = directory;
        Ok(())
    }

    /// Writes the file anew, if little of it is about things that are open. If that fails, it goes on as it is.
    fn shorten(&mut self) {
        self.shorten_at = SMALL;
        let kept = self.open.known().lock().outcomes.bytes();
        if (self.open.bytes().load(Ordering::Relaxed) + kept) * SLACK > self.length {
            return;
        }
        if let Err(error) = self.write_anew() {
            self.shorten_at = self.length.saturating_mul(2);
            self.health.change(|health| health.failed_rewrites += 1);
            self.health
                .tell(&JobLogEvent::NotShortened(error.to_string()));
        }
    }

    /// Writes what is open and how the rest ended to a new file, which takes the place of the old one. That one goes on if this
    /// fails.
    pub(super) fn write_anew(&mut self) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        let mut last = 0;
        line::write_header(&mut bytes).map_err(|error| self.unwritable(&error))?;
        let places: Vec<_> = self.open.known().lock().outcomes.places().collect();
        let mut moved = Vec::new();
        let mut unreadable = Vec::new();
        for (name, place) in places {
            let Some(end) = self.read_end(place, |id| outcomes::name(id) == name) else {
                unreadable.push(name);
                continue;
            };
            last += 1;
            let offset = bytes.len();
            line::write(&mut bytes, last, &[end]).map_err(|error| self.unwritable(&error))?;
            moved.push((name, offset as u64, (bytes.len() - offset) as u64));
        }
        for item in self.open.iter() {
            last += 1;
            line::write(&mut bytes, last, &item.batch())
                .map_err(|error| self.unwritable(&error))?;
        }
        let mut next = replace(&self.directory, &bytes)?;
        // From here on it is the file at the path, whether its name is on the disk or not.
        next.named(self.directory.path_of(NAME));
        self.is_unnamed = true;
        let print = next.fingerprint()?;
        self.file = Some((next, print));
        self.is_stale = false;
        self.length = bytes.len() as u64;
        self.last = last;
        let mut names = self.open.known().lock();
        for (name, offset, length) in moved {
            names.outcomes.moved(name, offset, length);
        }
        for name in unreadable {
            names.outcomes.remove(name);
        }
        drop(names);
        self.directory.sync()?;
        self.is_unnamed = false;
        if self.lock.len()? == 0 {
            // From now on a log that is not there was lost.
            self.lock
                .write_all(format!("{}\n", line::VERSION).as_bytes())?;
        }
        Ok(())
    }

    pub(super) const fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns how jobs ended, as far as that is kept.
    pub(super) fn ends(&self) -> Vec<JobChange> {
        let places: Vec<_> = self.open.known().lock().outcomes.places().collect();
        let ends = places
            .into_iter()
            .filter_map(|(name, place)| self.read_end(place, |id| outcomes::name(id) == name));
        ends.collect()
    }

    /// Closes what is open and meant, and returns how much that was.
    pub(super) fn close_where(&mut self, is_meant: &dyn Fn(&OpenItem) -> bool) -> usize {
        let meant: Vec<String> = self
            .open
            .iter()
            .filter(|item| is_meant(item))
            .map(|item| item.id.clone())
            .collect();
        for id in &meant {
            self.open.close(id);
        }
        meant.len()
    }

    /// Reads how a job ended.
    pub(super) fn outcome(&self, id: &str, now_ms: i64) -> Option<Value> {
        let place = self.open.known().outcome(id, now_ms)?;
        match self.read_end(place, |one| one == id)? {
            JobChange::End { outcome, .. } => Some(outcome),
            JobChange::Open { .. } | JobChange::Mark { .. } | JobChange::Close { .. } => None,
        }
    }

    /// Reads the end of a job from its line.
    fn read_end(&self, place: Place, is_meant: impl Fn(&str) -> bool) -> Option<JobChange> {
        let (file, _) = self.file.as_ref()?;
        let mut bytes = vec![0; usize::try_from(place.length).ok()?];
        let read = file.read_at(&mut bytes, place.offset).ok()?;
        // A damaged log may have line ends of another kind.
        let changes = match line::read(bytes[..read].trim_ascii_end()) {
            Line::Batch(_, changes) | Line::Earlier(changes) => changes,
            Line::Header(_) | Line::Damaged => return None,
        };
        let mut changes = changes.into_iter();
        changes.find(|change| matches!(change, JobChange::End { id, .. } if is_meant(id)))
    }

    fn unwritable(&self, error: &serde_json::Error) -> StoreError {
        damaged(self.directory.path_of(NAME), error.to_string())
    }
}

/// Writes a new file and gives it the log's name.
pub(super) fn replace(directory: &Directory, bytes: &[u8]) -> Result<File, StoreError> {
    directory.remove(NEXT)?;
    let next = required(directory, NEXT, Open::CreateNew)?;
    let written = next.write_all(bytes).and_then(|()| next.sync_data());
    if let Err(error) = written.and_then(|()| directory.rename(NEXT, NAME)) {
        let _ = directory.remove(NEXT);
        return Err(error);
    }
    Ok(next)
}

/// Takes the lock that only one process has.
pub(super) fn locked(directory: &Directory, wait: LockMode) -> Result<File, StoreError> {
    let lock = required(directory, LOCK, Open::AppendOrCreate)?;
    if !lock.lock_soon(wait)? {
        return Err(StoreError::Busy {
            key: directory.path_of(NAME).display().to_string(),
        });
    }
    Ok(lock)
}

fn required(directory: &Directory, name: &str, open: Open) -> Result<File, StoreError> {
    let file = directory.file(name, open)?;
    file.ok_or_else(|| damaged(directory.path_of(name), "it cannot be made"))
}
