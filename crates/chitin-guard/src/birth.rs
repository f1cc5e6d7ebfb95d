//! What stays the same when a directory is moved or renamed.

use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};

/// The device and inode of a directory, and when it was made: the same before and after a move on one file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryBirth {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970.
    pub born_ns: i128,
}

/// Asks the kernel.
#[cfg(target_os = "linux")]
pub(super) fn of(directory: &OwnedFd) -> Option<DirectoryBirth> {
    use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let found = statx(directory, c"", AtFlags::EMPTY_PATH, wanted).ok()?;
    if found.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return None;
    }
    let born = found.stx_btime;
    Some(DirectoryBirth {
        device: makedev(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        born_ns: i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec),
    })
}

/// Elsewhere nothing is claimed.
#[cfg(not(target_os = "linux"))]
pub(super) const fn of(_: &OwnedFd) -> Option<DirectoryBirth> {
    None
}
