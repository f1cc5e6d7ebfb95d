//! Several changes beneath roots that happen together: when one fails, those before it are taken back.
//!
//! What takes room on the disk is written first, without names as far as possible; then names are given and exchanged, which needs
//! next to no room. A process that is killed between two exchanges leaves the first done and the second not.

use super::fingerprint::{Fingerprint, file_type};
use super::root::Root;
use super::stream::NewFile;
use super::temporary::temporary_name;
use super::write::{WriteError, rename_between, sync_directory};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many prepared files this process keeps open at once to give them no name. The others have a temporary one.
const MOST_NAMELESS: usize = 64;

static NAMELESS: AtomicUsize = AtomicUsize::new(0);

/// What must stand under a name for a change to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// The file that was read, and nobody wrote to it since.
    Unchanged(Fingerprint),
}

/// A change that is ready and has not happened. Dropped, it never will.
#[derive(Debug)]
pub struct PreparedChange {
    path: PathBuf,
    parent: Arc<OwnedFd>,
    name: OsString,
    expected: Expected,
    /// The new content; without one the file goes.
    content: Option<Content>,
}

/// New content of a file, on the disk.
#[derive(Debug)]
enum Content {
    /// It is held open and has no name, as far as the file system can.
    Held(HeldFile),
    /// It has another name.
    Under(OsString),
}

/// A file that counts among those held open.
#[derive(Debug)]
struct HeldFile(Option<NewFile>);

impl Drop for HeldFile {
    fn drop(&mut self) {
        NAMELESS.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Content {
    fn of(new: NewFile) -> Result<Self, Errno> {
        if NAMELESS.fetch_add(1, Ordering::Relaxed) < MOST_NAMELESS {
            return Ok(Self::Held(HeldFile(Some(new))));
        }
        NAMELESS.fetch_sub(1, Ordering::Relaxed);
        new.into_temporary().map(Self::Under)
    }
}

/// A change that happened and can be taken back.
struct Done {
    change: PreparedChange,
    /// Where the old file is.
    backup: Option<OsString>,
}

impl Root {
    /// Writes the new content of a file under another name, ready to take its place. It gets the permission bits of `mode`;
    /// from those of a new file the process takes its share as usual.
    pub fn prepare_write(
        &self,
        relative: &Path,
        bytes: &[u8],
        expected: Expected,
        mode: u32,
    ) -> Result<PreparedChange, WriteError> {
        let mut change = self.prepare(relative, expected)?;
        let fail = |error: Errno| self.write_error(relative, error);
        let new = NewFile::written(&change.parent, &change.name, bytes, mode).map_err(fail)?;
        if let Expected::Unchanged(_) = expected {
            let bits = Mode::from_raw_mode(mode & 0o777);
            rustix::fs::fchmod(new.file(), bits).map_err(fail)?;
        }
        change.content = Some(Content::of(new).map_err(fail)?);
        Ok(change)
    }

    /// Makes a file that was written piece by piece ready to take a name in the directory in which it was begun. Over a file
    /// that is there it gets exactly the permission bits of `mode`.
    pub fn prepare_file(
        &self,
        new: NewFile,
        relative: &Path,
        expected: Expected,
        mode: u32,
    ) -> Result<PreparedChange, WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        if let Expected::Unchanged(_) = expected {
            let bits = Mode::from_raw_mode(mode & 0o777);
            rustix::fs::fchmod(new.file(), bits).map_err(fail)?;
        }
        self.prepare_as_it_is(new, relative, expected)
    }

    fn prepare_as_it_is(
        &self,
        new: NewFile,
        relative: &Path,
        expected: Expected,
    ) -> Result<PreparedChange, WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        let name = relative
            .file_name()
            .ok_or_else(|| self.not_beneath(relative))?;
        rustix::fs::fsync(new.file()).map_err(fail)?;
        Ok(PreparedChange {
            path: self.path().join(relative),
            parent: Arc::clone(new.parent()),
            name: name.to_owned(),
            expected,
            content: Some(Content::of(new).map_err(fail)?),
        })
    }

    /// Does the same and gives the file exactly the permission bits of `mode`, new or not.
    pub fn prepare_file_exactly(
        &self,
        new: NewFile,
        relative: &Path,
        expected: Expected,
        mode: u32,
    ) -> Result<PreparedChange, WriteError> {
        let bits = Mode::from_raw_mode(mode & 0o7777);
        rustix::fs::fchmod(new.file(), bits).map_err(|error| self.write_error(relative, error))?;
        self.prepare_as_it_is(new, relative, expected)
    }

    /// Makes ready to remove a file.
    pub fn prepare_remove(
        &self,
        relative: &Path,
        found: Fingerprint,
    ) -> Result<PreparedChange, WriteError> {
        self.prepare(relative, Expected::Unchanged(found))
    }

    fn prepare(&self, relative: &Path, expected: Expected) -> Result<PreparedChange, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        Ok(PreparedChange {
            path: self.path().join(relative),
            parent: Arc::new(parent),
            name: name.to_owned(),
            expected,
            content: None,
        })
    }

    /// Removes a directory that is empty; leaves any other alone.
    pub fn remove_empty_directory(&self, relative: &Path) -> Result<(), WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR)
            .map_err(|error| self.write_error(relative, error))
    }
}

/// Lets changes happen in order. When one cannot, those before it are taken back and its error is returned.
pub fn commit_all(changes: Vec<PreparedChange>) -> Result<(), WriteError> {
    let mut done = Vec::new();
    for change in changes {
        match change.commit() {
            Ok(change) => done.push(change),
            Err(error) => {
                done.into_iter().rev().for_each(Done::undo);
                return Err(error);
            }
        }
    }
    done.into_iter().for_each(Done::keep);
    Ok(())
}

impl PreparedChange {
    /// Begins a file in the same directory, without opening that once more.
    pub fn begin_beside(&self, mode: u32) -> Result<NewFile, WriteError> {
        NewFile::begin(Arc::clone(&self.parent), mode).map_err(|error| WriteError::Io {
            path: self.path.clone(),
            source: error.into(),
        })
    }

    fn commit(mut self) -> Result<Done, WriteError> {
        let result = match (self.content.take(), self.expected) {
            (Some(new), Expected::Absent) => self.create(new).map(|()| None),
            (Some(new), Expected::Unchanged(_)) => {
                let new = match new {
                    Content::Held(mut held) => match held.0.take() {
                        Some(new) => new.into_temporary(),
                        None => Err(Errno::STALE),
                    },
                    Content::Under(name) => Ok(name),
                };
                new.and_then(|new| self.exchange(new)).map(Some)
            }
            (None, Expected::Unchanged(_)) => self.set_aside().map(Some),
            (None, Expected::Absent) => Ok(None),
        };
        match result {
            Ok(backup) => Ok(Done {
                change: self,
                backup,
            }),
            // Something else stands there by now: a link, or a file that somebody wrote to.
            Err(Errno::EXIST | Errno::STALE) => Err(WriteError::Changed {
                path: self.path.clone(),
            }),
            Err(error) => Err(WriteError::Io {
                path: self.path.clone(),
                source: error.into(),
            }),
        }
    }

    fn create(&self, new: Content) -> Result<(), Errno> {
        match new {
            Content::Held(mut held) => match held.0.take() {
                Some(new) => new.take_name(&self.parent, &self.name),
                None => Err(Errno::STALE),
            },
            Content::Under(new) => rename_between(&self.parent, &new, &self.parent, &self.name)
                .inspect_err(|_| self.remove(&new)),
        }
    }

    /// Puts the new file under the name and the old one under that of the temporary.
    fn exchange(&self, new: OsString) -> Result<OsString, Errno> {
        let swapped = rustix::fs::renameat_with(
            &self.parent,
            &new,
            &self.parent,
            &self.name,
            RenameFlags::EXCHANGE,
        );
        let backup = match swapped {
            Ok(()) => new,
            // Old kernels and some file systems cannot; a second name keeps the old file.
            Err(Errno::INVAL | Errno::NOSYS) => {
                let backup = temporary_name(&self.name);
                rustix::fs::linkat(
                    &self.parent,
                    &self.name,
                    &self.parent,
                    &backup,
                    AtFlags::empty(),
                )
                .and_then(|()| rustix::fs::renameat(&self.parent, &new, &self.parent, &self.name))
                .inspect_err(|_| {
                    self.remove(&new);
                    self.remove(&backup);
                })?;
                backup
            }
            Err(error) => {
                self.remove(&new);
                // The file is gone: that is a change, too.
                return Err(if error == Errno::NOENT {
                    Errno::STALE
                } else {
                    error
                });
            }
        };
        self.checked(backup)
    }

    fn set_aside(&self) -> Result<OsString, Errno> {
        let backup = temporary_name(&self.name);
        match rename_between(&self.parent, &self.name, &self.parent, &backup) {
            Ok(()) => self.checked(backup),
            Err(Errno::NOENT) => Err(Errno::STALE),
            Err(error) => Err(error),
        }
    }

    /// Looks at what was displaced. Only now is it certain that nobody can put something else there.
    fn checked(&self, backup: OsString) -> Result<OsString, Errno> {
        let displaced = rustix::fs::statat(&self.parent, &backup, AtFlags::SYMLINK_NOFOLLOW);
        let is_expected = displaced.is_ok_and(|displaced| match self.expected {
            Expected::Absent => false,
            Expected::Unchanged(found) => is_unchanged(&displaced, &found),
        });
        if is_expected {
            return Ok(backup);
        }
        let _ = rustix::fs::renameat(&self.parent, &backup, &self.parent, &self.name);
        Err(Errno::STALE)
    }

    fn remove(&self, name: &OsStr) {
        let _ = rustix::fs::unlinkat(&self.parent, name, AtFlags::empty());
    }
}

/// Compares all but the time of the last status change, which the renaming itself has moved.
fn is_unchanged(now: &Stat, found: &Fingerprint) -> bool {
    let mut current = Fingerprint::from(now);
    current.ctime = found.ctime;
    file_type(now) == FileType::RegularFile && current == *found
}

impl Drop for PreparedChange {
    fn drop(&mut self) {
        if let Some(Content::Under(temporary)) = self.content.take() {
            self.remove(&temporary);
        }
    }
}

impl Done {
    fn undo(self) {
        let change = &self.change;
        match &self.backup {
            // Also over the new file, which goes with it.
            Some(backup) => {
                let _ = rustix::fs::renameat(&change.parent, backup, &change.parent, &change.name);
            }
            None => change.remove(&change.name),
        }
    }

    fn keep(self) {
        if let Some(backup) = &self.backup {
            self.change.remove(backup);
        }
        sync_directory(&self.change.parent);
    }
}
