//! Files without a name: the kernel removes them with the process that writes them, however that ends.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::Mode;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once this machine turned out to give such files no names.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Uses no such files any more.
pub(super) fn give_up() {
    GIVEN_UP.store(true, Ordering::Relaxed);
}

/// Opens a file without a name in a directory; nothing where the file system has no such files. What else is wrong shows when one with a
/// name is made.
#[cfg(target_os = "linux")]
pub(super) fn open(parent: &OwnedFd, mode: Mode) -> Option<OwnedFd> {
    use rustix::fs::OFlags;
    if GIVEN_UP.load(Ordering::Relaxed) {
        return None;
    }
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    rustix::fs::openat(parent, c".", flags, mode).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn open(_: &OwnedFd, _: Mode) -> Option<OwnedFd> {
    None
}

/// Gives a file without a name one that nobody has.
pub(super) fn link(file: impl AsFd, parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    use rustix::fd::AsRawFd;
    use rustix::fs::{AtFlags, CWD};
    // The way that needs no privilege.
    let place = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    rustix::fs::linkat(CWD, place, parent, name, AtFlags::SYMLINK_FOLLOW)
}

/// Tells whether a file with another name would fare no better.
pub(super) fn is_final(error: Errno) -> bool {
    matches!(
        error,
        Errno::EXIST
            | Errno::NOSPC
            | Errno::DQUOT
            | Errno::IO
            | Errno::ROFS
            | Errno::NAMETOOLONG
            | Errno::NOTDIR
            | Errno::INTR
    )
}

/// Copies all of a file into an empty one.
pub(super) fn copy(from: impl AsFd, to: impl AsFd) -> Result<(), Errno> {
    let mut buffer = vec![0; 64 * 1024];
    let mut at = 0;
    loop {
        match rustix::io::pread(&from, &mut buffer, at) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                super::write::write_all(&to, &buffer[..count])?;
                at += count as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}
