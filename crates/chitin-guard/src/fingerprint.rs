//! Fingerprints: what is compared to know that a file did not change.

use rustix::fs::{FileType, Stat};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Kernels stamp files by ticks of at most ten milliseconds; two changes within one tick look the same.
const TICK: Duration = Duration::from_millis(50);

/// Device, inode, size and both times of a file: equal fingerprints mean that nobody wrote to it in between.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time, seconds and nanoseconds.
    pub mtime: (i64, i64),
    /// Status change time, seconds and nanoseconds; nobody can set it back.
    pub ctime: (i64, i64),
}

impl Fingerprint {
    /// Describes the file at a path that the user named, links followed; nothing when there is none.
    pub fn of_path(path: &Path) -> Option<Self> {
        let stat = rustix::fs::stat(path).ok()?;
        Some(Self::from(&stat))
    }

    /// Tells whether a change after `now` must show: the last one is older than the finest difference between two stamps. An
    /// equal fingerprint proves nothing before that.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.ctime;
        let (Ok(seconds), Ok(nanoseconds)) = (seconds.try_into(), nanoseconds.try_into()) else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        now.duration_since(changed).is_ok_and(|age| age > TICK)
    }

    /// Tells whether two fingerprints are of one file, whatever its content.
    pub const fn is_same_file(&self, other: &Self) -> bool {
        self.dev == other.dev && self.ino == other.ino
    }
}

#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::unnecessary_cast,
    reason = "the fields of `stat` have other widths and signs on other platforms; only equality matters"
)]
impl From<&Stat> for Fingerprint {
    fn from(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            size: stat.st_size as u64,
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// Returns the time, to be compared with the stamps of files and for nothing else.
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of the machine is what files are stamped with"
)]
pub fn stamp_now() -> SystemTime {
    SystemTime::now()
}

/// The permission bits of a directory that only keeps a name free.
///
/// While a command runs, what it must not create is occupied by an empty directory of these bits, which the sandbox mounts over and
/// removes afterwards. Nothing else makes such directories: sticky, and writable for nobody.
pub const PLACEHOLDER_MODE: u32 = 0o1555;

/// Tells whether a directory only keeps its name free. Whoever looks for a file there finds none.
pub(crate) fn is_placeholder(stat: &Stat) -> bool {
    file_type(stat) == FileType::Directory && stat.st_mode & 0o7777 == PLACEHOLDER_MODE
}

/// Returns the type of the file that `stat` describes.
pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}
