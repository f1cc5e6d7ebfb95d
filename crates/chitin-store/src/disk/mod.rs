//! The one door to the disk: files of one directory, by name, never through a link, nothing but regular files.

mod copy;
mod fingerprint;

pub(crate) use copy::copy;
pub(crate) use fingerprint::{ContentPrint, Fingerprint, peek};

use crate::store::{LockMode, StoreError};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const FILE_MODE: Mode = Mode::from_raw_mode(0o600);
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o700);
/// Every file is opened so: not through a link, not waiting for a pipe's other end, not inherited by other programs.
const ALWAYS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// How long a process sleeps at most while it waits for a lock that is never held for long.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// A directory that is open.
#[derive(Debug)]
pub(crate) struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// A regular file of a directory that is open.
#[derive(Debug)]
pub(crate) struct File {
    descriptor: OwnedFd,
    path: PathBuf,
    is_locked: AtomicBool,
}

impl Drop for File {
    /// Gives its lock back. Closing alone would not always do: a program that is just being started has, for an instant, all
    /// files of the process that starts it, and with them their locks.
    fn drop(&mut self) {
        if self.is_locked.load(Ordering::Relaxed) {
            let _ = fs::flock(&self.descriptor, FlockOperation::NonBlockingUnlock);
        }
    }
}

/// The turn of a process in a directory.
#[derive(Debug)]
pub(crate) struct DirectoryTurn<'d>(&'d Directory);

impl Drop for DirectoryTurn<'_> {
    fn drop(&mut self) {
        let _ = fs::flock(&self.0.descriptor, FlockOperation::NonBlockingUnlock);
    }
}

/// What is known of a file without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) modified_ms: i64,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    /// To be read.
    Read,
    /// To be read, and to be written at its end.
    Append,
    /// The same, made if there is none.
    AppendOrCreate,
    /// To be read, and to be written at its end; it must not be there yet.
    CreateNew,
    /// To be written from its beginning; it must not be there yet. The kernel can copy into it.
    CopyNew,
    /// To be written from its beginning, whatever it held.
    Replace,
    /// The same, and to be read.
    Fresh,
}

impl Directory {
    /// Opens a directory; `None` when there is none.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => Ok(Some(Self {
                descriptor,
                path: path.to_path_buf(),
            })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(io(path, error)),
        }
    }

    /// Opens a directory; it and its parents are made if they are not there.
    pub(crate) fn make(path: &Path) -> Result<Self, StoreError> {
        if let Some(directory) = Self::open(path)? {
            return Ok(directory);
        }
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            Some(_) | None => Path::new("."),
        };
        let parent = Self::make(parent)?;
        match fs::mkdir(path, DIRECTORY_MODE) {
            Ok(()) => parent.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(io(path, error)),
        }
        Self::open(path)?.ok_or_else(|| io(path, Errno::NOENT))
    }

    /// Returns where a file of the directory is.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file; `None` when there is none, or, for a new one, when there is one.
    pub(crate) fn file(&self, name: &str, open: Open) -> Result<Option<File>, StoreError> {
        let flags = match open {
            Open::Read => OFlags::RDONLY,
            Open::Append => OFlags::RDWR | OFlags::APPEND,
            Open::AppendOrCreate => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE,
            Open::CreateNew => OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL,
            Open::CopyNew => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Open::Replace => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
            Open::Fresh => OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC,
        };
        let path = self.path_of(name);
        match fs::openat(&self.descriptor, name, flags | ALWAYS, FILE_MODE) {
            Ok(descriptor) => File::checked(descriptor, path).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::EXIST) if matches!(open, Open::CreateNew | Open::CopyNew) => Ok(None),
            Err(Errno::LOOP) => Err(damaged(path, "it is a link")),
            Err(Errno::ISDIR | Errno::NXIO) => Err(damaged(path, "it is not a regular file")),
            Err(error) => Err(io(&path, error)),
        }
    }

    /// Gives a file of the directory another name; what had that name is gone.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        fs::renameat(&self.descriptor, from, &self.descriptor, to)
            .map_err(|error| io(&self.path_of(from), error))
    }

    /// Gives a file of the directory another name, the first free one of those that are offered. The new name is on the disk
    /// after the next [`sync`](Self::sync).
    pub(crate) fn set_aside(
        &self,
        from: &str,
        names: impl Iterator<Item = String>,
    ) -> Result<String, StoreError> {
        for to in names.take(10_000) {
            if self.listed(&to)?.is_none() {
                self.rename(from, &to)?;
                return Ok(to);
            }
        }
        Err(damaged(
            self.path_of(from),
            "no name is free to set it aside",
        ))
    }

    /// Takes a file away; tells whether there was one.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, StoreError> {
        match fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(io(&self.path_of(name), error)),
        }
    }

    /// Waits for the turn to take a lock, so that a process that wants it again and again leaves it to others in between. When
    /// the turn does not come in time, or the file system knows no such thing, it is as if it had come: this is courtesy, and
    /// the lock itself is what counts.
    pub(crate) fn turn(&self, mode: LockMode) -> DirectoryTurn<'_> {
        let _ = lock(&self.descriptor, mode, LONGEST_PAUSE);
        DirectoryTurn(self)
    }

    /// Puts names onto the disk.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        fs::fsync(&self.descriptor).map_err(|error| io(&self.path, error))
    }

    /// Returns what is known of a regular file; `None` when there is none.
    pub(crate) fn listed(&self, name: &str) -> Result<Option<Listed>, StoreError> {
        match fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
                Ok(Some(Listed {
                    name: name.to_owned(),
                    bytes: u64::try_from(stat.st_size).unwrap_or_default(),
                    modified_ms: modified_ms(&stat),
                }))
            }
            Ok(_) | Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(io(&self.path_of(name), error)),
        }
    }

    /// Returns the regular files and directories in it whose names are asked for, by name.
    pub(crate) fn list(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Listed>, StoreError> {
        let mut files = Vec::new();
        for name in self.names()? {
            if wanted(&name)
                && let Some(listed) = self.listed(&name)?
            {
                files.push(listed);
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    /// Returns the names of everything in it that has a readable name.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let fail = |error| io(&self.path, error);
        for entry in fs::Dir::read_from(&self.descriptor).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            if let Ok(name) = entry.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
}

fn modified_ms(stat: &fs::Stat) -> i64 {
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or_default();
    stat.st_mtime
        .saturating_mul(1_000)
        .saturating_add(nanoseconds / 1_000_000)
}

/// Takes the lock that only one open file can have; `false` when another has it for too long.
fn lock(descriptor: &OwnedFd, mode: LockMode, longest_pause: Duration) -> rustix::io::Result<bool> {
    let until = match mode {
        LockMode::Refuse => None,
        LockMode::Wait(milliseconds) => {
            Instant::now().checked_add(Duration::from_millis(milliseconds))
        }
    };
    let mut pause = Duration::from_micros(200);
    loop {
        match fs::flock(descriptor, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error),
        }
        let now = Instant::now();
        let Some(left) = until.and_then(|until| until.checked_duration_since(now)) else {
            return Ok(false);
        };
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(longest_pause);
    }
}

impl File {
    fn checked(descriptor: OwnedFd, path: PathBuf) -> Result<Self, StoreError> {
        let stat = fs::fstat(&descriptor).map_err(|error| io(&path, error))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(damaged(path, "it is not a regular file"));
        }
        Ok(Self {
            descriptor,
            path,
            is_locked: AtomicBool::new(false),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Says that it has another name by now.
    pub(crate) fn named(&mut self, path: PathBuf) {
        self.path = path;
    }

    pub(crate) fn len(&self) -> Result<u64, StoreError> {
        let stat = fs::fstat(&self.descriptor).map_err(|error| self.io(error))?;
        Ok(u64::try_from(stat.st_size).unwrap_or_default())
    }

    /// Fills a buffer from a place on; returns how much there was.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, StoreError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let at = offset + filled as u64;
            match rustix::io::pread(&self.descriptor, &mut buffer[filled..], at) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.io(error)),
            }
        }
        Ok(filled)
    }

    /// Reads all of it, if it is not longer than allowed.
    pub(crate) fn read_all(&self, limit: u64) -> Result<Vec<u8>, StoreError> {
        let length = self.len()?;
        if length > limit {
            return Err(damaged(self.path.clone(), "it is too large"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = self.read_at(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Writes all of it, in one go if the system takes it in one go.
    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.descriptor, bytes) {
                Ok(0) => return Err(self.io(Errno::NOSPC)),
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.io(error)),
            }
        }
        Ok(())
    }

    /// Cuts it off.
    pub(crate) fn truncate(&self, length: u64) -> Result<(), StoreError> {
        fs::ftruncate(&self.descriptor, length).map_err(|error| self.io(error))
    }

    /// Puts its content onto the disk.
    pub(crate) fn sync_data(&self) -> Result<(), StoreError> {
        fs::fdatasync(&self.descriptor).map_err(|error| self.io(error))
    }

    /// Tells whether no name leads to it any more: another file took its place.
    pub(crate) fn is_gone(&self) -> Result<bool, StoreError> {
        let stat = fs::fstat(&self.descriptor).map_err(|error| self.io(error))?;
        Ok(stat.st_nlink == 0)
    }

    /// Takes the lock that only one open file can have; the kernel drops it with the process. `false`: another has it.
    pub(crate) fn lock(&self, mode: LockMode) -> Result<bool, StoreError> {
        self.lock_with(mode, Duration::from_millis(20))
    }

    /// The same, for a lock that is never held for long.
    pub(crate) fn lock_soon(&self, mode: LockMode) -> Result<bool, StoreError> {
        self.lock_with(mode, LONGEST_PAUSE)
    }

    fn lock_with(&self, mode: LockMode, longest_pause: Duration) -> Result<bool, StoreError> {
        let is_locked =
            lock(&self.descriptor, mode, longest_pause).map_err(|error| self.io(error))?;
        self.is_locked.fetch_or(is_locked, Ordering::Relaxed);
        Ok(is_locked)
    }

    pub(crate) fn io(&self, error: Errno) -> StoreError {
        io(&self.path, error)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Says what the operating system said; a full disk by its own name.
pub(crate) fn io(path: &Path, error: Errno) -> StoreError {
    let path = path.to_path_buf();
    match error {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => StoreError::NoRoom { path },
        error => StoreError::Io {
            path,
            source: error.into(),
        },
    }
}

pub(crate) fn damaged(path: PathBuf, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged {
        path,
        reason: reason.into(),
    }
}
