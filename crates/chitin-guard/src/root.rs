//! A directory held open, and reads beneath it.

use super::birth::DirectoryBirth;
use super::fingerprint::{Fingerprint, file_type, is_placeholder};
use super::open::{self, OpenFailure};
use super::policy::{Hardlinks, LinkPolicy, Oversized, ReadPolicy};
use super::temporary::is_leftover_name;
use super::walk::{NameEnd, Walker};
use chitin_protocol::record::{FileRefusal, OversizeFile};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use thiserror::Error;

/// How often a read starts again when the tree changes under it.
const MAX_ATTEMPTS: usize = 8;

/// Which mechanism keeps an open beneath the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// The kernel resolves the whole path beneath the root (`openat2`); falls back when the call is not there.
    Kernel,
    /// Component by component in this process (`cap-std`).
    Portable,
}

/// A directory held open. Everything beneath it is reached through its descriptor.
#[derive(Debug)]
pub struct Root {
    given: PathBuf,
    /// Looked up when it is first asked for: most roots never meet a link.
    real: OnceLock<PathBuf>,
    directory: OwnedFd,
    listable: bool,
    id: (rustix::fs::Dev, u64),
    mode: u32,
    backend: Backend,
    /// Real paths of directories that count as outside.
    pub(super) closed: Vec<PathBuf>,
    /// Tells which names count as outside, wherever beneath the root they stand.
    pub(super) closed_names: Option<NameRule>,
}

/// Judges one name of a path.
pub type NameRule = fn(&OsStr) -> bool;

/// A root whose descriptor was let go.
#[derive(Debug)]
pub struct ParkedRoot {
    given: PathBuf,
    id: (rustix::fs::Dev, u64),
    mode: u32,
    backend: Backend,
}

/// Bytes that came through the door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// What was read.
    pub bytes: Vec<u8>,
    /// The fingerprint of the open file, taken before the first byte was read.
    pub fingerprint: Fingerprint,
    /// Set when the file is larger than the bound and only its beginning was kept.
    pub oversize: Option<OversizeFile>,
    /// Permission bits.
    pub mode: u32,
    /// The real path of the file, when a link led there.
    pub linked_to: Option<PathBuf>,
}

/// Why a read gave no bytes.
#[derive(Debug, Error)]
pub enum ReadError {
    /// There is no such entry.
    #[error("`{}` does not exist", path.display())]
    Missing {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The entry is there, and the policy does not let it through.
    #[error("`{}` is refused: {}", path.display(), reason.meaning())]
    Refused {
        /// The path that was asked for.
        path: PathBuf,
        /// The first check that failed.
        reason: FileRefusal,
    },
    /// The operating system failed.
    #[error("`{}` cannot be read", path.display())]
    Io {
        /// The path that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl ReadError {
    /// Returns the path that was asked for.
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path } | Self::Refused { path, .. } | Self::Io { path, .. } => path,
        }
    }

    /// Tells whether there simply is no such entry.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }
}

/// A file that was opened and not yet judged.
pub(super) struct Opened {
    pub(super) file: OwnedFd,
    pub(super) linked_to: Option<PathBuf>,
}

/// A file that stays open to be read on every load.
#[derive(Debug)]
pub struct KeptFile {
    file: OwnedFd,
    fingerprint: Fingerprint,
}

impl KeptFile {
    /// Reads the file again and tells whether it is the one that `now` describes, and holds the known bytes, of which only
    /// the beginning is known if `prefix`. Allocates nothing.
    pub fn reads_the_same(&self, now: &Fingerprint, known: &[u8], prefix: bool) -> bool {
        self.fingerprint.is_same_file(now) && open::holds(&self.file, known, prefix)
    }
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// The name, as spelled on disk.
    pub name: OsString,
    /// What it names; links are not followed.
    pub kind: DirectoryEntryKind,
}

/// What a directory entry is, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DirectoryEntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Other,
}

impl From<FileType> for DirectoryEntryKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            _ => Self::Other,
        }
    }
}

impl Root {
    /// Opens a directory, which may itself be reached through links.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, Backend::Kernel)
    }

    /// Opens a directory with a chosen backend.
    pub fn open_with(path: &Path, backend: Backend) -> Result<Self, ReadError> {
        let fail = |error: Errno| match error {
            Errno::NOENT => ReadError::Missing { path: path.into() },
            _ => ReadError::Io {
                path: path.into(),
                source: error.into(),
            },
        };
        let (directory, listable) = open::directory(path).map_err(fail)?;
        Self::held(path.into(), directory, listable, backend).map_err(fail)
    }

    /// Takes a directory that is open already.
    pub(super) fn held(
        given: PathBuf,
        directory: OwnedFd,
        listable: bool,
        backend: Backend,
    ) -> Result<Self, Errno> {
        let held = rustix::fs::fstat(&directory)?;
        Ok(Self {
            given,
            real: OnceLock::new(),
            directory,
            listable,
            id: (held.st_dev, held.st_ino),
            mode: held.st_mode,
            backend,
            closed: Vec::new(),
            closed_names: None,
        })
    }

    /// Opens the same directory again after it was let go; `None` when the path leads to another one by now.
    pub fn reopen(parked: ParkedRoot) -> Option<Self> {
        let (directory, listable) = open::directory(&parked.given).ok()?;
        let held = rustix::fs::fstat(&directory).ok()?;
        ((held.st_dev, held.st_ino, held.st_mode) == (parked.id.0, parked.id.1, parked.mode))
            .then_some(Self {
                given: parked.given,
                real: OnceLock::new(),
                directory,
                listable,
                id: parked.id,
                mode: parked.mode,
                backend: parked.backend,
                closed: Vec::new(),
                closed_names: None,
            })
    }

    /// Lets go of the descriptor and keeps what is needed to find the directory again.
    pub fn park(self) -> ParkedRoot {
        ParkedRoot {
            given: self.given,
            id: self.id,
            mode: self.mode,
            backend: self.backend,
        }
    }

    /// Returns the path as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// Returns the path with every link resolved.
    pub fn real_path(&self) -> &Path {
        self.real.get_or_init(|| {
            // The directory may be renamed meanwhile; only a name that leads back to it is trusted.
            for _ in 0..MAX_ATTEMPTS {
                if let Ok(real) = open::real_path(&self.directory, &self.given)
                    && rustix::fs::lstat(&real)
                        .is_ok_and(|named| (named.st_dev, named.st_ino) == self.id)
                {
                    return real;
                }
            }
            // It has no name any more; nothing can be inside a path that no walk will reach.
            self.given.clone()
        })
    }

    /// Returns what tells this directory from every other one, whatever it is called; none where the file system does
    /// not say when a directory was made, since inodes are used again.
    pub fn birth(&self) -> Option<DirectoryBirth> {
        super::birth::of(&self.directory)
    }

    /// Returns the backend that opens files.
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Reads a file beneath the root.
    pub fn read(&self, relative: &Path, policy: &ReadPolicy) -> Result<FileRead, ReadError> {
        let opened = self.open_file(relative, &policy.links)?;
        self.read_open(relative, &opened.file, opened.linked_to, policy)
    }

    /// Reads a file beneath the root and keeps it open to be read again.
    pub fn read_and_keep(
        &self,
        relative: &Path,
        policy: &ReadPolicy,
    ) -> Result<(FileRead, KeptFile), ReadError> {
        let opened = self.open_file(relative, &policy.links)?;
        let read = self.read_open(relative, &opened.file, opened.linked_to, policy)?;
        let kept = KeptFile {
            file: opened.file,
            fingerprint: read.fingerprint,
        };
        Ok((read, kept))
    }

    /// Reads the end of a plain file, at most `max_bytes`, following no link; tells whether that is all of it.
    pub fn read_tail(&self, relative: &Path, max_bytes: u64) -> Result<(Vec<u8>, bool), ReadError> {
        let file = self.open_file(relative, &LinkPolicy::Refuse)?.file;
        let stat = rustix::fs::fstat(&file).map_err(|e| self.io(relative, e))?;
        if file_type(&stat) != FileType::RegularFile {
            return Err(self.refused(relative, FileRefusal::NotAFile));
        }
        let size = Fingerprint::from(&stat).size;
        let skipped = size.saturating_sub(max_bytes);
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(skipped))
            .map_err(|e| self.io(relative, e))?;
        let mut bytes =
            open::read_up_to(&file, size - skipped, max_bytes).map_err(|e| self.io(relative, e))?;
        bytes.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
        Ok((bytes, skipped == 0))
    }

    /// Opens a file by policy, without judging its type.
    pub(super) fn open_file(
        &self,
        relative: &Path,
        links: &LinkPolicy,
    ) -> Result<Opened, ReadError> {
        self.check_closed(relative)?;
        // Most files are plain: no link on the way, nothing to decide.
        match open::beneath(
            self.directory.as_fd(),
            relative,
            self.backend,
            open::FILE_FLAGS,
        ) {
            Ok(file) => {
                return Ok(Opened {
                    file,
                    linked_to: None,
                });
            }
            Err(OpenFailure::LinkOrEscape) => {}
            Err(failure) => return Err(self.open_error(relative, failure)),
        }
        for _ in 0..MAX_ATTEMPTS {
            let end = self.walk(relative, links)?;
            if end.kind != DirectoryEntryKind::File {
                return Err(self.refused(relative, FileRefusal::NotAFile));
            }
            let opened = match end.path.strip_prefix(self.real_path()) {
                Ok(inside) => open::beneath(
                    self.directory.as_fd(),
                    inside,
                    self.backend,
                    open::FILE_FLAGS,
                ),
                Err(_) => Self::open_outside(&end.path, links, self.backend),
            };
            match opened {
                Ok(file) => {
                    return Ok(Opened {
                        file,
                        linked_to: Some(end.path),
                    });
                }
                // The walk saw one thing and the open another: the tree moved. Look again.
                Err(OpenFailure::LinkOrEscape | OpenFailure::Missing) => {}
                Err(failure) => return Err(self.open_error(relative, failure)),
            }
        }
        Err(self.refused(relative, FileRefusal::Unstable))
    }

    /// Opens a file that the policy allows although it is not beneath this root.
    fn open_outside(
        path: &Path,
        links: &LinkPolicy,
        backend: Backend,
    ) -> Result<OwnedFd, OpenFailure> {
        match links {
            LinkPolicy::TrustedRoots(roots) => {
                for trusted in roots {
                    let Ok(root) = Self::open_with(trusted, backend) else {
                        continue;
                    };
                    if let Ok(inside) = path.strip_prefix(root.real_path()) {
                        return open::beneath(
                            root.directory.as_fd(),
                            inside,
                            backend,
                            open::FILE_FLAGS,
                        );
                    }
                }
                Err(OpenFailure::LinkOrEscape)
            }
            LinkPolicy::Anywhere => open::anywhere(path),
            LinkPolicy::EveryHopInside
            | LinkPolicy::EndInside
            | LinkPolicy::NotTheFile
            | LinkPolicy::Refuse => Err(OpenFailure::LinkOrEscape),
        }
    }

    fn read_open(
        &self,
        relative: &Path,
        file: &OwnedFd,
        linked_to: Option<PathBuf>,
        policy: &ReadPolicy,
    ) -> Result<FileRead, ReadError> {
        let stat = rustix::fs::fstat(file).map_err(|e| self.io(relative, e))?;
        self.judge(relative, &stat, policy)?;
        let fingerprint = Fingerprint::from(&stat);
        let mut bytes = open::read_up_to(file, fingerprint.size, policy.max_bytes)
            .map_err(|e| self.io(relative, e))?;
        let mut oversize = None;
        if fingerprint.size > policy.max_bytes {
            let kept = bytes.len() - torn_tail(&bytes);
            bytes.truncate(kept);
            oversize = Some(OversizeFile {
                size: fingerprint.size,
                kept: kept as u64,
            });
        }
        Ok(FileRead {
            bytes,
            fingerprint,
            oversize,
            mode: stat.st_mode & 0o7777,
            linked_to,
        })
    }

    pub(super) fn judge(
        &self,
        relative: &Path,
        stat: &Stat,
        policy: &ReadPolicy,
    ) -> Result<(), ReadError> {
        if file_type(stat) != FileType::RegularFile {
            if is_placeholder(stat) {
                return Err(ReadError::Missing {
                    path: self.given.join(relative),
                });
            }
            return Err(self.refused(relative, FileRefusal::NotAFile));
        }
        if policy.hardlinks == Hardlinks::Refuse && stat.st_nlink > 1 {
            return Err(self.refused(relative, FileRefusal::Hardlinked));
        }
        if policy.oversized == Oversized::Refuse && Fingerprint::from(stat).size > policy.max_bytes
        {
            return Err(self.refused(relative, FileRefusal::TooLarge));
        }
        Ok(())
    }

    /// Walks to the end of a name by policy and tells what is there, without opening it.
    pub fn walk(&self, relative: &Path, links: &LinkPolicy) -> Result<NameEnd, ReadError> {
        self.check_closed(relative)?;
        let end = Walker::new(self.real_path(), links)
            .walk(relative)
            .map_err(|stop| stop.into_error(self.given.join(relative)))?;
        match self.closed_around(&end.path, links) {
            Some(_) => Err(self.refused(relative, FileRefusal::OutsideRoot)),
            None => Ok(end),
        }
    }

    /// Lists a directory beneath the root, unsorted, without the temporary names of files that are being written. Stops with an error
    /// past `limit` names.
    pub fn list(
        &self,
        relative: &Path,
        links: &LinkPolicy,
        limit: usize,
    ) -> Result<Vec<DirectoryEntry>, ReadError> {
        let mut entries = self.list_with_leftovers(relative, links, limit)?;
        entries.retain(|entry| !is_leftover_name(&entry.name));
        Ok(entries)
    }

    /// Does the same with these names.
    pub fn list_with_leftovers(
        &self,
        relative: &Path,
        links: &LinkPolicy,
        limit: usize,
    ) -> Result<Vec<DirectoryEntry>, ReadError> {
        let directory = self.open_directory(relative, links)?;
        let closed_here = if self.is_all_open() {
            None
        } else {
            Some(self.walk(relative, links)?.path)
        };
        let mut entries = Vec::new();
        let whole = open::each_name(&directory, |name, kind| {
            let is_self = matches!(name.to_bytes(), b"." | b"..");
            if !is_self {
                entries.push(DirectoryEntry {
                    name: OsString::from_vec(name.to_bytes().to_vec()),
                    kind: kind.into(),
                });
            }
            entries.len() <= limit
        });
        if !whole.map_err(|e| self.io(relative, e))? {
            return Err(self.refused(relative, FileRefusal::TooLarge));
        }
        if let Some(here) = closed_here {
            entries.retain(|entry| self.closed_around(&here.join(&entry.name), links).is_none());
        }
        Ok(entries)
    }

    pub(super) fn open_directory(
        &self,
        relative: &Path,
        links: &LinkPolicy,
    ) -> Result<OwnedFd, ReadError> {
        self.check_closed(relative)?;
        let here = if relative.as_os_str().is_empty() {
            Path::new(".")
        } else {
            relative
        };
        match open::beneath(self.directory.as_fd(), here, self.backend, open::LIST_FLAGS) {
            Ok(directory) => return Ok(directory),
            // A link where a directory is wanted looks like a file to the kernel, and so like nothing.
            Err(OpenFailure::LinkOrEscape | OpenFailure::Missing) => {}
            Err(failure) => return Err(self.open_error(relative, failure)),
        }
        let end = self.walk(relative, links)?;
        let opened = match end.path.strip_prefix(self.real_path()) {
            Ok(inside) if inside.as_os_str().is_empty() => open::beneath(
                self.directory.as_fd(),
                Path::new("."),
                self.backend,
                open::LIST_FLAGS,
            ),
            Ok(inside) => open::beneath(
                self.directory.as_fd(),
                inside,
                self.backend,
                open::LIST_FLAGS,
            ),
            Err(_) => Err(OpenFailure::LinkOrEscape),
        };
        opened.map_err(|failure| self.open_error(relative, failure))
    }

    /// Describes one name directly in the root, links not followed: its fingerprint, and whether it is a link. `None`
    /// when there is no such entry. Allocates nothing.
    pub fn look(&self, name: &str) -> io::Result<Option<(Fingerprint, bool)>> {
        match rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some((
                Fingerprint::from(&stat),
                file_type(&stat) == FileType::Symlink,
            ))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Tells whether the path that was given still leads to this very directory, with the same permissions.
    pub fn is_current(&self) -> bool {
        rustix::fs::stat(&self.given).is_ok_and(|now| {
            (now.st_dev, now.st_ino, now.st_mode) == (self.id.0, self.id.1, self.mode)
        })
    }

    /// Fails when the directory's names may not be read.
    pub fn check_listable(&self) -> io::Result<()> {
        if self.listable {
            Ok(())
        } else {
            Err(Errno::ACCESS.into())
        }
    }

    /// Tells what stands at a name beneath the root, links in the last component not followed.
    pub fn kind(&self, relative: &Path) -> Option<DirectoryEntryKind> {
        let (parent, name) = (relative.parent()?, relative.file_name()?);
        if parent.as_os_str().is_empty() {
            let stat = rustix::fs::statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            return (!is_placeholder(&stat)).then(|| file_type(&stat).into());
        }
        let parent = open::beneath(
            self.directory.as_fd(),
            parent,
            self.backend,
            open::LIST_FLAGS,
        )
        .ok()?;
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (!is_placeholder(&stat)).then(|| file_type(&stat).into())
    }

    pub(super) fn io(&self, relative: &Path, error: Errno) -> ReadError {
        ReadError::Io {
            path: self.given.join(relative),
            source: error.into(),
        }
    }

    pub(super) fn refused(&self, relative: &Path, reason: FileRefusal) -> ReadError {
        ReadError::Refused {
            path: self.given.join(relative),
            reason,
        }
    }

    fn open_error(&self, relative: &Path, failure: OpenFailure) -> ReadError {
        match failure {
            OpenFailure::Missing => ReadError::Missing {
                path: self.given.join(relative),
            },
            OpenFailure::LinkOrEscape => self.refused(relative, FileRefusal::OutsideRoot),
            OpenFailure::NotAFile => self.refused(relative, FileRefusal::NotAFile),
            OpenFailure::Unstable => self.refused(relative, FileRefusal::Unstable),
            OpenFailure::Io(error) => self.io(relative, error),
        }
    }
}

/// Returns how many bytes at the end are a proper prefix of a well-formed UTF-8 sequence.
fn torn_tail(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    match std::str::from_utf8(&bytes[start..]) {
        Ok(_) => 0,
        Err(_) => (1..=bytes.len() - start)
            .rev()
            .find(|&n| {
                std::str::from_utf8(&bytes[bytes.len() - n..])
                    .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
            })
            .unwrap_or(0),
    }
}
