//! Questions about paths outside any root: answered with yes or no, never with content.

use rustix::fs::Access;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Tells whether this process may execute what stands at the path, links followed.
pub fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}

/// Returns what a symbolic link says, without following it.
pub fn link_target(path: &Path) -> Option<PathBuf> {
    let target = rustix::fs::readlink(path, Vec::new()).ok()?;
    Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
}

/// Tells whether anything stands at the path, links followed.
pub fn exists(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXISTS).is_ok()
}
