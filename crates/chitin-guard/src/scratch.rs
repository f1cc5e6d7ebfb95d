//! Scratch directories: private copies that can be made again, and are gone when dropped.

use super::open;
use super::root::{DirectoryEntryKind, Root};
use super::staging::NewMode;
use super::temporary::kept_name;
use super::write::{WriteError, WriteOutcome, write_all};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A directory that only this user may enter, claimed as long as this value lives and removed with all that is in it when
/// it is dropped.
///
/// Files are written without waiting for the disk: after a crash nobody wants them.
#[derive(Debug)]
pub struct Scratch {
    root: Root,
    parent: OwnedFd,
    name: OsString,
}

/// A new file in a scratch directory, written piece by piece.
#[derive(Debug)]
pub struct ScratchFile {
    file: File,
}

impl ScratchFile {
    /// Waits until the disk has it.
    pub fn sync(self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Root {
    /// Makes a scratch directory, unless the name is taken.
    pub fn make_scratch(&self, relative: &Path) -> Result<Option<Scratch>, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o700)) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(None),
            Err(error) => return Err(self.write_error(relative, error)),
        }
        let root = self.private_directory(relative, &parent, name);
        let root = root.map_err(|error| self.write_error(relative, error))?;
        // A file system without locks still has the directory; then nobody takes it for abandoned either.
        let _ = claim(&root);
        Ok(Some(Scratch {
            root,
            name: name.to_owned(),
            parent,
        }))
    }

    /// Takes over a scratch directory that nobody claims any more, to drop it. `None` for everything else: links, files,
    /// directories of others or open to others, and those in use.
    pub fn take_abandoned_scratch(&self, relative: &Path) -> Option<Scratch> {
        let (parent, name) = self.parent_of(relative).ok()?;
        let root = self.private_directory(relative, &parent, name).ok()?;
        // Only with the claim is it a `Scratch`: dropping one removes what is in it.
        claim(&root).ok()?;
        Some(Scratch {
            root,
            name: name.to_owned(),
            parent,
        })
    }

    fn private_directory(
        &self,
        relative: &Path,
        parent: &OwnedFd,
        name: &OsStr,
    ) -> Result<Self, Errno> {
        let directory = rustix::fs::openat(parent, name, open::LIST_FLAGS, Mode::empty())?;
        if !is_private(&rustix::fs::fstat(&directory)?) {
            return Err(Errno::PERM);
        }
        Self::held(self.path().join(relative), directory, true, self.backend())
    }
}

impl Scratch {
    /// Returns the directory.
    pub const fn root(&self) -> &Root {
        &self.root
    }

    /// Creates a directory and its parents.
    pub fn directory(&self, relative: &Path) -> Result<(), WriteError> {
        self.root.make_directories(relative)
    }

    /// Writes a new file, unless the name is taken.
    pub fn file(&self, relative: &Path, bytes: &[u8]) -> Result<WriteOutcome, WriteError> {
        let (parent, name) = self.root.parent_of(relative)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => write_all(&file, bytes)
                .map(|()| WriteOutcome::Created)
                .map_err(|error| self.root.write_error(relative, error)),
            Err(Errno::EXIST) => Ok(WriteOutcome::AlreadyThere),
            Err(error) => Err(self.root.write_error(relative, error)),
        }
    }

    /// Begins a new file; a name that is taken is an error.
    pub fn begin(&self, relative: &Path, mode: NewMode) -> Result<ScratchFile, WriteError> {
        let fail = |error| self.root.write_error(relative, error);
        let (parent, name) = self.root.parent_of(relative)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (NewMode::Usual(bits) | NewMode::Exactly(bits)) = mode;
        let bits = Mode::from_raw_mode(bits & 0o777);
        let file = rustix::fs::openat(&parent, name, flags, bits).map_err(fail)?;
        if let NewMode::Exactly(_) = mode {
            rustix::fs::fchmod(&file, bits).map_err(fail)?;
        }
        Ok(ScratchFile { file: file.into() })
    }

    /// Lets go of the directory without removing it.
    pub(super) fn leave(self) {
        std::mem::forget(self);
    }

    /// Moves an entry to a name that nobody clears away.
    pub(super) fn leave_under_another_name(&self, relative: &Path) {
        if let Ok((parent, name)) = self.root.parent_of(relative) {
            let kept = kept_name(name);
            let _ = rustix::fs::renameat(&parent, name, &self.parent, kept);
        }
    }

    /// Makes a symbolic link with exactly this text, unless the name is taken. Wherever the text leads, nothing is looked
    /// at or written there.
    pub fn link(&self, relative: &Path, text: &Path) -> Result<WriteOutcome, WriteError> {
        let (parent, name) = self.root.parent_of(relative)?;
        match rustix::fs::symlinkat(text, &parent, name) {
            Ok(()) => Ok(WriteOutcome::Created),
            Err(Errno::EXIST) => Ok(WriteOutcome::AlreadyThere),
            Err(error) => Err(self.root.write_error(relative, error)),
        }
    }

    /// Removes everything in the directory. Links are removed, never followed.
    fn clear(&self) -> Result<(), Errno> {
        // Parents come before what is in them, so backwards every directory is empty when its turn comes.
        let mut directories = vec![PathBuf::from(".")];
        let mut at = 0;
        while let Some(here) = directories.get(at).cloned() {
            at += 1;
            let directory = self.opened(&here)?;
            let mut names = Vec::new();
            open::each_name(&directory, |name, kind| {
                if !matches!(name.to_bytes(), b"." | b"..") {
                    names.push((
                        OsStr::from_bytes(name.to_bytes()).to_owned(),
                        DirectoryEntryKind::from(kind),
                    ));
                }
                true
            })?;
            for (name, kind) in names {
                match kind {
                    DirectoryEntryKind::Directory => {
                        // What came from elsewhere may be closed even to its owner.
                        let mode = Mode::from_raw_mode(0o700);
                        let _ = rustix::fs::chmodat(&directory, &name, mode, AtFlags::empty());
                        directories.push(here.join(name));
                    }
                    DirectoryEntryKind::File
                    | DirectoryEntryKind::Link
                    | DirectoryEntryKind::Other => {
                        rustix::fs::unlinkat(&directory, name, AtFlags::empty())?;
                    }
                }
            }
        }
        for below in directories.iter().skip(1).rev() {
            if let (Some(parent), Some(name)) = (below.parent(), below.file_name()) {
                rustix::fs::unlinkat(self.opened(parent)?, name, AtFlags::REMOVEDIR)?;
            }
        }
        Ok(())
    }

    fn opened(&self, relative: &Path) -> Result<OwnedFd, Errno> {
        let backend = self.root.backend();
        open::beneath(self.root.descriptor(), relative, backend, open::LIST_FLAGS)
            .map_err(|_| Errno::NOENT)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is found again by whoever looks for abandoned ones.
        if self.clear().is_ok() {
            let _ = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
        }
    }
}

/// Tells whether only this user may enter a directory.
fn is_private(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw() && (stat.st_mode & 0o777) | 0o700 == 0o700
}

/// Marks a directory as in use. The kernel forgets the mark with the process, however that ends.
fn claim(root: &Root) -> Result<(), Errno> {
    rustix::fs::flock(root.descriptor(), FlockOperation::NonBlockingLockExclusive)
}
