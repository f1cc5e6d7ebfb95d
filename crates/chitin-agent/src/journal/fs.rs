//! The journal's one door to the disk: appends to logs, reads trajectories, puts whole directories in place.
//!
//! Everything here is below the state directory or where the user said.
#![expect(
    clippy::disallowed_methods,
    reason = "this is the door: logs are no files of the workspace, and bundles go where the user says"
)]

use rustix::fs::{FlockOperation, OFlags};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Only the owner reads logs.
const FILE_MODE: u32 = 0o600;
const DIRECTORY_MODE: u32 = 0o700;
/// A longer line is looked at in parts.
const MOST_OF_A_LINE: u64 = 256 << 20;

/// A file that lines are appended to.
#[derive(Debug)]
pub(super) struct Appender {
    file: File,
    path: PathBuf,
    /// How long the file was when it was opened, and what was appended since.
    pub(super) bytes: u64,
}

impl Appender {
    /// Opens a file, or makes it and its directories. A line that was cut short by a crash gets its end first.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            make_directory(parent)?;
        }
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(FILE_MODE)
            .custom_flags(OFlags::CLOEXEC.bits().cast_signed())
            .open(path)?;
        let mut opened = Self {
            file,
            path: path.to_path_buf(),
            bytes: 0,
        };
        // Whoever writes shares a claim. Alone, nobody is in the middle of a line: one without an end was cut short.
        let alone = rustix::fs::flock(&opened.file, FlockOperation::NonBlockingLockExclusive);
        opened.bytes = opened.file.metadata()?.len();
        if alone.is_ok() && opened.is_torn() {
            opened.file.write_all(b"\n")?;
            opened.bytes += 1;
        }
        let _ = rustix::fs::flock(&opened.file, FlockOperation::Unlock);
        Ok(opened)
    }

    /// Tells whether the last line has no end.
    fn is_torn(&self) -> bool {
        let mut last = [0];
        self.bytes > 0 && self.file.read_at(&mut last, self.bytes - 1).is_ok() && last != *b"\n"
    }

    /// Appends in one write: the lines of several processes follow each other, never mix.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        // A file system without locks still has the line.
        let _ = rustix::fs::flock(&self.file, FlockOperation::LockShared);
        // Whoever cleans a log puts a new file in the place of the old one, while it has the lock alone.
        if rustix::fs::fstat(&self.file).is_ok_and(|stat| stat.st_nlink == 0) {
            *self = Self::open(&self.path)?;
            let _ = rustix::fs::flock(&self.file, FlockOperation::LockShared);
        }
        let written = self.file.write_all(line);
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
        written?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

/// The file of a recording. Whoever opens it first owns it until it is closed: only the owner writes lines that lean on each other.
#[derive(Debug)]
pub(super) struct RecordingFile {
    file: File,
    pub(super) is_owned: bool,
}

/// How often a file that is replaced at this moment is opened again.
const MOST_OPENED: usize = 8;
/// How much of the end of a file is looked at first, for its last line.
const TAIL: u64 = 64 * 1024;

impl RecordingFile {
    /// Opens a file, or makes it and its directories. A line that was cut short by a crash gets its end first.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if let Some(parent) = path.parent() {
            make_directory(parent)?;
        }
        let mut opened = Self::open_once(path)?;
        // Whoever cleans or sweeps recordings takes the lock, and puts another file in the place of this one, or none.
        for _ in 0..MOST_OPENED {
            if !rustix::fs::fstat(&opened.file).is_ok_and(|stat| stat.st_nlink == 0) {
                break;
            }
            opened = Self::open_once(path)?;
        }
        if opened.is_owned && opened.is_torn()? {
            opened.file.write_all(b"\n")?;
        }
        Ok(opened)
    }

    fn open_once(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(FILE_MODE)
            .custom_flags(OFlags::CLOEXEC.bits().cast_signed())
            .open(path)?;
        let locked = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        // A file system without locks has one writer of a session all the same: the session itself is locked.
        let is_owned = !matches!(locked, Err(rustix::io::Errno::WOULDBLOCK));
        Ok(Self { file, is_owned })
    }

    fn is_torn(&self) -> io::Result<bool> {
        let length = self.length()?;
        let mut last = [0];
        Ok(length > 0 && self.file.read_at(&mut last, length - 1)? == 1 && last != *b"\n")
    }

    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Appends lines in one write. Of what cannot be written whole nothing stays.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let before = self.length()?;
        let written = self.file.write_all(lines);
        if written.is_err() && self.is_owned {
            // If this fails too, the line has no end, and the next writer gives it one.
            let _ = self.file.set_len(before);
        }
        written
    }

    /// Reads what is from a byte on, up to a length.
    pub(super) fn read_from(&self, from: u64, limit: u64) -> io::Result<Vec<u8>> {
        let length = self.length()?.saturating_sub(from).min(limit);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(bytes)
    }

    /// Reads as much of the end as is needed for some line that begins with given bytes, and returns the last one.
    pub(super) fn last_line(&self, start: &[u8], limit: u64) -> io::Result<Option<Vec<u8>>> {
        let length = self.length()?;
        let mut window = TAIL;
        loop {
            let from = length.saturating_sub(window);
            let bytes = self.read_from(from, window)?;
            let mut end = bytes.len();
            while let Some(line_end) = memchr::memrchr(b'\n', &bytes[..end]) {
                let begin = memchr::memrchr(b'\n', &bytes[..line_end]);
                if begin.is_none() && from > 0 {
                    break;
                }
                let line = &bytes[begin.map_or(0, |at| at + 1)..line_end];
                if line.starts_with(start) {
                    return Ok(Some(line.to_vec()));
                }
                end = begin.map_or(0, |at| at + 1);
            }
            if from == 0 || window >= limit {
                return Ok(None);
            }
            window = window.saturating_mul(16);
        }
    }
}

/// Makes a directory and those above it, for the owner only.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
}

/// Writes a small file anew, unless it says the same already. A link in its place is not followed.
pub(super) fn write_small(path: &Path, text: &str) -> io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(FILE_MODE)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    file.write_all(text.as_bytes())
}

/// How old a file may be before it is marked as used again.
const RENEWED_AFTER_MS: i64 = 24 * 60 * 60 * 1000;

/// Tells whether a file is there, and marks it as used if it was not for a day: what is not used is swept.
pub(super) fn renew(path: &Path, now_ms: i64) -> bool {
    let Ok(stat) = rustix::fs::stat(path) else {
        return false;
    };
    let used_ms = stat.st_mtime.saturating_mul(1000);
    if now_ms.saturating_sub(used_ms) > RENEWED_AFTER_MS {
        let now = rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_NOW,
        };
        let times = rustix::fs::Timestamps {
            last_access: now,
            last_modification: now,
        };
        let _ = rustix::fs::utimensat(rustix::fs::CWD, path, &times, rustix::fs::AtFlags::empty());
    }
    true
}

/// Puts a file in place, whole or not at all. One that is there is replaced by the same.
pub(super) fn place_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(Path::new("."));
    make_directory(parent)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT_FILE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let staging = parent.join(format!(".{name}.{}.{number}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&staging)?;
    let placed = file
        .write_all(bytes)
        .and_then(|()| std::fs::rename(&staging, path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&staging);
    }
    placed
}

/// Tells apart the temporary files of one process.
static NEXT_FILE: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Reads a file up to a length; what comes after it is not looked at.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the end of a file.
pub(super) fn read_tail(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the entries of a directory, sorted; none when it is not there.
pub(super) fn entries(path: &Path) -> io::Result<Vec<PathBuf>> {
    let read = match std::fs::read_dir(path) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut entries = Vec::new();
    for entry in read {
        entries.push(entry?.path());
    }
    entries.sort();
    Ok(entries)
}

/// Tells whether something is there.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Tells whether a symbolic link is there.
pub(super) fn is_link(path: &Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|found| found.file_type().is_symlink())
}

/// Puts a directory of files in place, whole or not at all: it is made under another name and renamed. What is there
/// already is never touched.
pub(super) fn place_directory(target: &Path, files: &[(&str, &[u8])]) -> io::Result<()> {
    let parent = target.parent().unwrap_or(Path::new("."));
    make_directory(parent)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let staging = parent.join(format!(".{name}.{}", std::process::id()));
    DirBuilder::new().mode(DIRECTORY_MODE).create(&staging)?;
    let placed = fill(&staging, files).and_then(|()| {
        rustix::fs::renameat_with(
            rustix::fs::CWD,
            &staging,
            rustix::fs::CWD,
            target,
            rustix::fs::RenameFlags::NOREPLACE,
        )
        .map_err(io::Error::from)
    });
    if placed.is_err() {
        let _ = std::fs::remove_dir_all(&staging);
    }
    placed
}

fn fill(directory: &Path, files: &[(&str, &[u8])]) -> io::Result<()> {
    for (name, bytes) in files {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(directory.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Tells whether a regular file is there, without following a link.
pub(super) fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Removes a file; one that is not there is no error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Shows each line of a file, without its end, one at a time.
pub(super) fn each_line(path: &Path, see: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    lines_of(File::open(path)?, &mut |line| {
        see(line.strip_suffix(b"\n").unwrap_or(line));
        Ok(())
    })
}

/// Puts a file in the place of a log that has only some of its lines, and returns how many went. Whoever appends meanwhile waits, and finds the new
/// file. If nothing goes, the file stays the same.
pub(super) fn keep_lines(path: &Path, is_kept: &dyn Fn(&[u8]) -> bool) -> io::Result<usize> {
    let old = File::open(path)?;
    // A file system without locks still gets the new file.
    let _ = rustix::fs::flock(&old, FlockOperation::LockExclusive);
    let mut gone = 0;
    lines_of(old.try_clone()?, &mut |line| {
        gone += usize::from(!is_kept(line.strip_suffix(b"\n").unwrap_or(line)));
        Ok(())
    })?;
    if gone == 0 {
        return Ok(0);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let next = path.with_file_name(format!(".{name}.next"));
    remove(&next)?;
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&next)?;
    let mut out = io::BufWriter::new(file);
    let mut again = old.try_clone()?;
    again.seek(SeekFrom::Start(0))?;
    let written = lines_of(again, &mut |line| {
        if is_kept(line.strip_suffix(b"\n").unwrap_or(line)) {
            out.write_all(line)?;
        }
        Ok(())
    })
    .and_then(|()| out.into_inner().map_err(io::IntoInnerError::into_error))
    .and_then(|file| file.sync_all())
    .and_then(|()| std::fs::rename(&next, path));
    if let Err(error) = written {
        let _ = remove(&next);
        return Err(error);
    }
    if let Some(parent) = path.parent() {
        let _ = File::open(parent).and_then(|parent| parent.sync_all());
    }
    Ok(gone)
}

/// Shows each line of a file with its end.
fn lines_of(file: File, see: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut reader = io::BufReader::with_capacity(256 << 10, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = reader
            .by_ref()
            .take(MOST_OF_A_LINE)
            .read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(());
        }
        see(&line)?;
    }
}
