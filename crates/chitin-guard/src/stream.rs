//! A new file that is written piece by piece and has no name until it is whole.

use super::fingerprint::Fingerprint;
use super::open;
use super::root::Root;
use super::write::{WriteError, WriteOutcome, rename_between, sync_directory, temporary_name};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// What temporary names are made of.
const STEM: &str = "new";

/// A file that nobody sees yet. Dropped, it was never there.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    parent: Arc<OwnedFd>,
    /// `None` once it has its name.
    temporary: Option<OsString>,
}

/// A claim on a name, held as long as this value lives; the kernel drops it with the process.
#[derive(Debug)]
pub struct NameClaim {
    file: OwnedFd,
}

impl NameClaim {
    /// Stamps the claimed file with the time that its file system has: a sign of life for those who find it abandoned.
    pub fn touch(&self) -> io::Result<()> {
        let now = rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_NOW,
        };
        let times = rustix::fs::Timestamps {
            last_access: now,
            last_modification: now,
        };
        Ok(rustix::fs::futimens(&self.file, &times)?)
    }
}

impl Root {
    /// Begins a file in a directory beneath the root; an empty path is the root itself.
    pub fn begin_file(&self, directory: &Path, mode: u32) -> Result<NewFile, WriteError> {
        let stem = directory.join(STEM);
        let (parent, _) = self.parent_of(&stem)?;
        NewFile::begin(Arc::new(parent), mode).map_err(|error| self.write_error(directory, error))
    }

    /// Gives a file that is whole its name, unless the name is taken. Once this returns, the file survives a crash.
    pub fn keep_file(&self, new: NewFile, relative: &Path) -> Result<WriteOutcome, WriteError> {
        rustix::fs::fsync(&new.file).map_err(|error| self.write_error(relative, error))?;
        let (parent, kept) = self.name_file(new, relative)?;
        sync_directory(&parent);
        Ok(kept)
    }

    /// Does the same without waiting for the disk. [`Root::sync_file_system`] waits for many files at once.
    pub fn keep_file_unsynced(
        &self,
        new: NewFile,
        relative: &Path,
    ) -> Result<WriteOutcome, WriteError> {
        self.name_file(new, relative).map(|(_, kept)| kept)
    }

    /// Waits until the disk has everything that was written to the file system of this directory.
    pub fn sync_file_system(&self) -> Result<(), WriteError> {
        #[cfg(target_os = "linux")]
        rustix::fs::syncfs(self.descriptor())
            .map_err(|error| self.write_error(Path::new(""), error))?;
        #[cfg(not(target_os = "linux"))]
        rustix::fs::sync();
        Ok(())
    }

    fn name_file(
        &self,
        mut new: NewFile,
        relative: &Path,
    ) -> Result<(OwnedFd, WriteOutcome), WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        let (parent, name) = self.parent_of(relative)?;
        let Some(temporary) = new.temporary.take() else {
            return Ok((parent, WriteOutcome::AlreadyThere));
        };
        match rename_between(&new.parent, &temporary, &parent, name) {
            Ok(()) => Ok((parent, WriteOutcome::Created)),
            Err(error) => {
                new.temporary = Some(temporary);
                match error {
                    Errno::EXIST => Ok((parent, WriteOutcome::AlreadyThere)),
                    other => Err(fail(other)),
                }
            }
        }
    }

    /// Claims a name beneath the root for this process alone, or together with others, and waits for it if asked to.
    /// `None` when somebody else has it.
    pub fn claim(&self, relative: &Path, how: ClaimKind) -> Result<Option<NameClaim>, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o600))
            .map_err(|error| self.write_error(relative, error))?;
        let operation = match how {
            ClaimKind::Shared => FlockOperation::LockShared,
            ClaimKind::SharedNow => FlockOperation::NonBlockingLockShared,
            ClaimKind::Alone => FlockOperation::LockExclusive,
            ClaimKind::AloneNow => FlockOperation::NonBlockingLockExclusive,
        };
        loop {
            match rustix::fs::flock(&file, operation) {
                Ok(()) => return Ok(Some(NameClaim { file })),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(self.write_error(relative, error)),
            }
        }
    }

    /// Removes a file; one that is not there is no error. Links are removed, never followed.
    pub fn remove_file(&self, relative: &Path) -> Result<(), WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        match rustix::fs::unlinkat(&parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.write_error(relative, error)),
        }
    }

    /// Opens a directory beneath the root as a root of its own. No link is followed on the way.
    pub fn enter(&self, relative: &Path) -> Result<Self, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        rustix::fs::openat(
            &parent,
            name,
            open::LIST_FLAGS | OFlags::NOFOLLOW,
            Mode::empty(),
        )
        .and_then(|directory| {
            Self::held(self.path().join(relative), directory, true, self.backend())
        })
        .map_err(|error| self.write_error(relative, error))
    }
}

/// How a name is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    /// Together with others who do the same; waits for one who is alone.
    Shared,
    /// Together with others, or not at all while one is alone.
    SharedNow,
    /// Alone; waits for all others.
    Alone,
    /// Alone, or not at all.
    AloneNow,
}

impl NewFile {
    /// Begins a file in an open directory.
    pub(super) fn begin(parent: Arc<OwnedFd>, mode: u32) -> Result<Self, Errno> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode & 0o777);
        loop {
            let temporary = temporary_name(OsStr::new(STEM));
            match rustix::fs::openat(&parent, &temporary, flags, mode) {
                Ok(file) => {
                    return Ok(Self {
                        file: file.into(),
                        parent,
                        temporary: Some(temporary),
                    });
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Closes the file and hands over the directory it is in and its name there.
    pub(super) fn into_prepared(mut self) -> (Arc<OwnedFd>, Option<OsString>) {
        (Arc::clone(&self.parent), self.temporary.take())
    }

    /// Returns the open file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Returns the fingerprint of the file as it is now: for one that was just begun, what time its file system has.
    pub fn fingerprint(&self) -> io::Result<Fingerprint> {
        Ok(Fingerprint::from(&rustix::fs::fstat(&self.file)?))
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = rustix::fs::unlinkat(&self.parent, temporary, AtFlags::empty());
        }
    }
}
