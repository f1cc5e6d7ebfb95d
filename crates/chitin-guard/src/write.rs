//! Writes beneath a root: whole or not at all, never through a link, never over what is there unless asked to.

use super::open::{self, OpenFailure};
use super::root::Root;
use super::stream::NewFile;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The entry did not exist and does now.
    Created,
    /// The entry was there and was left alone.
    AlreadyThere,
}

/// Why a write changed nothing.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The path is absolute, climbs, or goes through a link.
    #[error("`{}` is not written: it leads out of the root, or a link or something else stands in its place", path.display())]
    NotBeneath {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// Something else stands there by now than what the caller saw; nothing was changed.
    #[error("`{}` is not written: it changed in the meantime", path.display())]
    Changed {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The operating system failed; nothing was changed.
    #[error("`{}` cannot be written", path.display())]
    Io {
        /// The path that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl WriteError {
    /// Returns the path that was asked for.
    pub fn path(&self) -> &Path {
        match self {
            Self::NotBeneath { path } | Self::Changed { path } | Self::Io { path, .. } => path,
        }
    }
}

impl Root {
    /// Creates a directory, and the root itself and its parents if they are absent, then opens it.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn create(path: &Path) -> Result<(Self, WriteOutcome), WriteError> {
        let fail = |source| WriteError::Io {
            path: path.into(),
            source,
        };
        let written = if std::fs::metadata(path).is_ok() {
            WriteOutcome::AlreadyThere
        } else {
            WriteOutcome::Created
        };
        std::fs::create_dir_all(path).map_err(fail)?;
        let root = Self::open(path).map_err(|e| fail(io::Error::other(e.to_string())))?;
        Ok((root, written))
    }

    /// Does the same for a directory of state: what is made belongs to the user alone.
    pub fn create_private(path: &Path) -> Result<Self, WriteError> {
        let fail = |source| WriteError::Io {
            path: path.into(),
            source,
        };
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(path).map_err(fail)?;
        Self::open(path).map_err(|e| fail(io::Error::other(e.to_string())))
    }

    /// Writes a new file whole, unless the name is taken. An interrupted write leaves nothing under that name.
    pub fn write_new(&self, relative: &Path, bytes: &[u8]) -> Result<WriteOutcome, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        let fail = |e: Errno| self.write_error(relative, e);
        if rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
            return Ok(WriteOutcome::AlreadyThere);
        }
        let parent = Arc::new(parent);
        let new = NewFile::written(&parent, name, bytes, 0o644).map_err(fail)?;
        match new.take_name(&parent, name) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(WriteOutcome::AlreadyThere),
            Err(error) => return Err(fail(error)),
        }
        sync_directory(&parent);
        Ok(WriteOutcome::Created)
    }

    /// Replaces a file's content in one step: readers see the old bytes or the new ones, also after a crash.
    pub fn replace(&self, relative: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace_as(relative, bytes, None)
    }

    /// Does the same for a file of state, which belongs to the user alone.
    pub fn replace_private(&self, relative: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace_as(relative, bytes, Some(0o600))
    }

    fn replace_as(
        &self,
        relative: &Path,
        bytes: &[u8],
        fixed: Option<u32>,
    ) -> Result<(), WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        let fail = |e: Errno| self.write_error(relative, e);
        let mut mode = 0o644;
        if let Ok(stat) = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            // Renaming over a link or a directory would take away something the user made on purpose.
            if super::fingerprint::file_type(&stat) != rustix::fs::FileType::RegularFile {
                return Err(WriteError::NotBeneath {
                    path: self.path().join(relative),
                });
            }
            mode = stat.st_mode & 0o777;
        }
        let mode = fixed.unwrap_or(mode);
        let parent = Arc::new(parent);
        let new = NewFile::written(&parent, name, bytes, mode).map_err(fail)?;
        new.take_name_over(&parent, name).map_err(fail)?;
        sync_directory(&parent);
        Ok(())
    }

    /// Appends bytes with a single write, creating the file if needed. Whole lines appended by two processes do not mix.
    pub fn append(&self, relative: &Path, bytes: &[u8]) -> Result<(), WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        let fail = |e: Errno| self.write_error(relative, e);
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY
            | OFlags::CLOEXEC;
        let file =
            rustix::fs::openat(&parent, name, flags, Mode::from_raw_mode(0o644)).map_err(fail)?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        if super::fingerprint::file_type(&stat) != rustix::fs::FileType::RegularFile
            || stat.st_nlink > 1
        {
            return Err(WriteError::NotBeneath {
                path: self.path().join(relative),
            });
        }
        write_all(&file, bytes).map_err(fail)?;
        rustix::fs::fdatasync(&file).map_err(fail)
    }

    /// Creates a directory and its parents beneath the root.
    pub fn make_directories(&self, relative: &Path) -> Result<(), WriteError> {
        let mut so_far = PathBuf::new();
        for component in plain_components(relative).ok_or_else(|| self.not_beneath(relative))? {
            so_far.push(component);
            let (parent, name) = self.parent_of(&so_far)?;
            match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.write_error(relative, error)),
            }
        }
        Ok(())
    }

    /// Moves an entry to a new name beneath the root, unless that name is taken.
    pub fn rename_new(&self, from: &Path, to: &Path) -> Result<WriteOutcome, WriteError> {
        let (from_parent, from_name) = self.parent_of(from)?;
        let (to_parent, to_name) = self.parent_of(to)?;
        match rename_between(&from_parent, from_name, &to_parent, to_name) {
            Ok(()) => Ok(WriteOutcome::Created),
            Err(Errno::EXIST) => Ok(WriteOutcome::AlreadyThere),
            Err(error) => Err(self.write_error(from, error)),
        }
    }

    pub(super) fn parent_of<'p>(
        &self,
        relative: &'p Path,
    ) -> Result<(OwnedFd, &'p OsStr), WriteError> {
        let (Some(_), Some(name)) = (plain_components(relative), relative.file_name()) else {
            return Err(self.not_beneath(relative));
        };
        if self.closed_lexically(relative).is_some() {
            return Err(self.not_beneath(relative));
        }
        let parent = match relative.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let directory = open::beneath(self.descriptor(), parent, self.backend(), open::LIST_FLAGS);
        match directory {
            Ok(directory) => Ok((directory, name)),
            Err(OpenFailure::LinkOrEscape | OpenFailure::NotAFile) => {
                Err(self.not_beneath(relative))
            }
            Err(OpenFailure::Missing) => Err(self.write_error(
                relative,
                match self.kind(parent) {
                    Some(_) => Errno::NOTDIR,
                    None => Errno::NOENT,
                },
            )),
            Err(OpenFailure::Unstable) => Err(self.write_error(relative, Errno::AGAIN)),
            Err(OpenFailure::Io(error)) => Err(self.write_error(relative, error)),
        }
    }

    pub(super) fn not_beneath(&self, relative: &Path) -> WriteError {
        WriteError::NotBeneath {
            path: self.path().join(relative),
        }
    }

    pub(super) fn write_error(&self, relative: &Path, error: Errno) -> WriteError {
        WriteError::Io {
            path: self.path().join(relative),
            source: error.into(),
        }
    }
}

/// Returns the components of a path that neither starts at `/` nor climbs.
fn plain_components(path: &Path) -> Option<Vec<&OsStr>> {
    path.components()
        .map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect()
}

pub(super) fn write_all(file: impl AsFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes) {
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(super) fn rename_between(
    from_parent: &OwnedFd,
    from: &OsStr,
    to_parent: &OwnedFd,
    to: &OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from_parent, from, to_parent, to, RenameFlags::NOREPLACE) {
        // Old kernels and some file systems do not know the flag; a second name that fails when taken does the same.
        Err(Errno::INVAL | Errno::NOSYS) => {
            rustix::fs::linkat(from_parent, from, to_parent, to, AtFlags::empty())?;
            rustix::fs::unlinkat(from_parent, from, AtFlags::empty())
        }
        result => result,
    }
}

/// Makes a rename durable. A file system that cannot sync a directory has still done the rename.
pub(super) fn sync_directory(parent: &OwnedFd) {
    let _ = rustix::fs::fsync(parent.as_fd());
}
