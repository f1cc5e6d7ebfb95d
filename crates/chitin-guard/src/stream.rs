//! A new file that is written piece by piece and has no name until it is whole.

use super::fingerprint::Fingerprint;
use super::nameless;
use super::open;
use super::root::Root;
use super::temporary::temporary_name;
use super::write::{WriteError, WriteOutcome, rename_between, sync_directory, write_all};
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
    /// What temporary names are made of.
    stem: OsString,
    state: Naming,
}

/// How far a file is on its way to its name.
#[derive(Debug)]
enum Naming {
    /// It has none yet, and goes with the process.
    Nameless,
    /// It has one that is not its own.
    Temporary(OsString),
    /// It has its own.
    Named,
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

    /// Does the same, also where another file has the name: readers see the old one or the new one.
    pub fn keep_file_over(&self, new: NewFile, relative: &Path) -> Result<(), WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        rustix::fs::fsync(&new.file).map_err(fail)?;
        let (parent, name) = self.parent_of(relative)?;
        new.take_name_over(&parent, name).map_err(fail)?;
        sync_directory(&parent);
        Ok(())
    }

    /// Does the same as [`Root::keep_file`] without waiting for the disk. [`Root::sync_file_system`] waits for many files at once.
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
        new: NewFile,
        relative: &Path,
    ) -> Result<(OwnedFd, WriteOutcome), WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        match new.take_name(&parent, name) {
            Ok(()) => Ok((parent, WriteOutcome::Created)),
            Err(Errno::EXIST) => Ok((parent, WriteOutcome::AlreadyThere)),
            Err(error) => Err(self.write_error(relative, error)),
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
        Self::begin_for(parent, OsStr::new(STEM), mode)
    }

    /// Writes a file whole that is to have a name in an open directory, and waits for the disk.
    pub(super) fn written(
        parent: &Arc<OwnedFd>,
        name: &OsStr,
        bytes: &[u8],
        mode: u32,
    ) -> Result<Self, Errno> {
        let new = Self::begin_for(Arc::clone(parent), name, mode)?;
        write_all(&new.file, bytes)?;
        rustix::fs::fsync(&new.file)?;
        Ok(new)
    }

    fn begin_for(parent: Arc<OwnedFd>, stem: &OsStr, mode: u32) -> Result<Self, Errno> {
        let mode = Mode::from_raw_mode(mode & 0o777);
        let (file, state) = if let Some(file) = nameless::open(&parent, mode) {
            (file, Naming::Nameless)
        } else {
            let (file, name) = open_temporary(&parent, stem, mode)?;
            (file, Naming::Temporary(name))
        };
        Ok(Self {
            file: file.into(),
            parent,
            stem: stem.to_owned(),
            state,
        })
    }

    /// Gives the file a name that nobody has; `EXIST` where somebody has it.
    pub(super) fn take_name(mut self, parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        self.try_name(parent, name)
    }

    /// Gives the file a name, whatever file has it.
    pub(super) fn take_name_over(mut self, parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        if matches!(self.state, Naming::Nameless) {
            match self.try_name(parent, name) {
                Err(Errno::EXIST) => {}
                result => return result,
            }
        }
        let temporary = self.temporary()?.to_owned();
        rustix::fs::renameat(&self.parent, &temporary, parent, name)?;
        self.state = Naming::Named;
        Ok(())
    }

    fn try_name(&mut self, parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
        if matches!(self.state, Naming::Nameless) {
            match nameless::link(&self.file, parent, name) {
                Ok(()) => {
                    self.state = Naming::Named;
                    return Ok(());
                }
                Err(error) if nameless::is_final(error) => return Err(error),
                Err(_) => {}
            }
        }
        let temporary = self.temporary()?.to_owned();
        rename_between(&self.parent, &temporary, parent, name)?;
        self.state = Naming::Named;
        Ok(())
    }

    /// Returns the name that the file has for now, in the directory in which it was begun.
    fn temporary(&mut self) -> Result<&OsStr, Errno> {
        if matches!(self.state, Naming::Nameless) {
            self.state = Naming::Temporary(self.linked()?);
        }
        match &self.state {
            Naming::Temporary(name) => Ok(name),
            Naming::Nameless | Naming::Named => Err(Errno::STALE),
        }
    }

    fn linked(&mut self) -> Result<OsString, Errno> {
        loop {
            let name = temporary_name(&self.stem);
            match nameless::link(&self.file, &self.parent, &name) {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => {}
                Err(error) if nameless::is_final(error) => return Err(error),
                // The kernel makes files without names and gives them none: under a policy, or without `/proc`.
                Err(_) => return self.copied(),
            }
        }
    }

    /// Makes the file once more, with a name.
    fn copied(&mut self) -> Result<OsString, Errno> {
        let stat = rustix::fs::fstat(&self.file)?;
        let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
        let (copy, name) = open_temporary(&self.parent, &self.stem, mode)?;
        let copied = nameless::copy(&self.file, &copy)
            .and_then(|()| rustix::fs::fchmod(&copy, mode))
            .and_then(|()| rustix::fs::fsync(&copy));
        if let Err(error) = copied {
            let _ = rustix::fs::unlinkat(&self.parent, &name, AtFlags::empty());
            return Err(error);
        }
        nameless::give_up();
        self.file = copy.into();
        Ok(name)
    }

    /// Closes the file; returns the name that it has for now, in the directory in which it was begun.
    pub(super) fn into_temporary(mut self) -> Result<OsString, Errno> {
        let name = self.temporary()?.to_owned();
        self.state = Naming::Named;
        Ok(name)
    }

    /// Returns the directory in which it was begun.
    pub(super) const fn parent(&self) -> &Arc<OwnedFd> {
        &self.parent
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
        if let Naming::Temporary(temporary) = &self.state {
            let _ = rustix::fs::unlinkat(&self.parent, temporary, AtFlags::empty());
        }
    }
}

fn open_temporary(
    parent: &OwnedFd,
    stem: &OsStr,
    mode: Mode,
) -> Result<(OwnedFd, OsString), Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = temporary_name(stem);
        match rustix::fs::openat(parent, &name, flags, mode) {
            Ok(file) => return Ok((file, name)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
}
