//! What is compared to know that a file did not change.

use super::{File, io};
use crate::store::StoreError;
use rustix::fs::{self, FileType, Stat, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Device, inode, size and both times of a file. Equal fingerprints mean that nobody wrote to it in between, as long as the
/// file is held open, so that no other file can get its inode, and as long as the clock ticked in between or the file was
/// marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    dev: u64,
    ino: u64,
    size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// What of a fingerprint can be written down, and means the same in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ContentPrint(u64, u64, i64, i64, i64);

/// Returns the fingerprint of the regular file that has a path now; `None` when there is none. One system call.
pub(crate) fn peek(path: &Path) -> Result<Option<Fingerprint>, StoreError> {
    match fs::lstat(path) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {
            Ok(Some(Fingerprint::from(&stat)))
        }
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(io(path, error)),
    }
}

#[expect(
    clippy::cast_possible_wrap,
    clippy::unnecessary_cast,
    reason = "the fields of `stat` have other widths and signs on other platforms; only equality matters"
)]
impl From<&Stat> for Fingerprint {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            size: stat.st_size as i64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

impl Fingerprint {
    /// Tells whether both are of one file, whatever is in it.
    pub(crate) const fn is_same_file(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }

    /// Returns how long the file is.
    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.size).unwrap_or_default()
    }

    /// Returns what tells this content of this file from others, to be written down: device, inode, size and time. A new name
    /// does not change it.
    pub(crate) const fn content(&self) -> ContentPrint {
        ContentPrint(
            self.dev,
            self.ino,
            self.size,
            self.modified.0,
            self.modified.1,
        )
    }

    /// Tells whether both are of one file with one content, whatever names it had: a new name changes the second time.
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        Self {
            changed: other.changed,
            ..*self
        } == *other
    }
}

impl File {
    /// Returns the fingerprint.
    pub(crate) fn fingerprint(&self) -> Result<Fingerprint, StoreError> {
        let stat = fs::fstat(&self.descriptor).map_err(|error| self.io(error))?;
        Ok(Fingerprint::from(&stat))
    }

    /// Sets its time back by a nanosecond and returns the fingerprint. Whoever writes to it in the same tick of the clock
    /// gives it another time, so that even this can be seen.
    pub(crate) fn mark(&self) -> Result<Fingerprint, StoreError> {
        let mut print = self.fingerprint()?;
        let (seconds, nanoseconds) = print.modified;
        print.modified = match nanoseconds {
            0 => (seconds - 1, 999_999_999),
            more => (seconds, more - 1),
        };
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
            last_modification: Timespec {
                tv_sec: print.modified.0,
                tv_nsec: print.modified.1,
            },
        };
        fs::futimens(&self.descriptor, &times).map_err(|error| self.io(error))?;
        // As the file system keeps it, which may be coarser.
        self.fingerprint()
    }
}
