//! Permission bits beneath a root: looked at, and taken away.

use super::fingerprint::file_type;
use super::open::{self, OpenFailure};
use super::root::Root;
use super::write::WriteError;
use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, accessat};
use rustix::io::Errno;
use std::path::Path;

impl Root {
    /// Returns the permission bits of a plain file or directory beneath the root; an empty path is the root itself.
    pub fn permissions(&self, relative: &Path) -> Option<u32> {
        let stat = if relative.as_os_str().is_empty() || relative == Path::new(".") {
            rustix::fs::fstat(self.descriptor()).ok()?
        } else {
            let file = open::beneath(
                self.descriptor(),
                relative,
                self.backend(),
                open::FILE_FLAGS,
            )
            .ok()?;
            rustix::fs::fstat(&file).ok()?
        };
        Some(stat.st_mode & 0o7777)
    }

    /// Tells whether a plain file beneath the root belongs to this user, and nobody else may write to it. Links are not followed.
    pub fn is_ours_alone(&self, relative: &Path) -> bool {
        let flags = open::FILE_FLAGS;
        open::beneath(self.descriptor(), relative, self.backend(), flags)
            .ok()
            .and_then(|file| rustix::fs::fstat(&file).ok())
            .is_some_and(|stat| {
                file_type(&stat) == FileType::RegularFile
                    && stat.st_uid == rustix::process::geteuid().as_raw()
                    && stat.st_mode & 0o022 == 0
            })
    }

    /// Tells whether this process may make files in a directory beneath the root; an empty path is the root itself.
    pub fn may_write(&self, directory: &Path) -> bool {
        let here = Path::new(".");
        let directory = if directory.as_os_str().is_empty() {
            here
        } else {
            directory
        };
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        open::beneath(
            self.descriptor(),
            directory,
            self.backend(),
            OFlags::DIRECTORY,
        )
        .is_ok_and(|found| accessat(found, here, wanted, AtFlags::empty()).is_ok())
    }

    /// Gives a plain file or a directory beneath the root exactly these permission bits. Nothing is opened for reading, so
    /// that a file that is closed to its owner can be opened again; a link is never followed.
    pub fn set_permissions(&self, relative: &Path, mode: u32) -> Result<(), WriteError> {
        let fail = |error: Errno| self.write_error(relative, error);
        let (parent, name) = self.parent_of(relative)?;
        let bits = Mode::from_raw_mode(mode & 0o7777);
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let held = rustix::fs::openat(&parent, name, flags, Mode::empty()).map_err(fail)?;
            match file_type(&rustix::fs::fstat(&held).map_err(fail)?) {
                FileType::RegularFile | FileType::Directory => {}
                _ => return Err(self.not_beneath(relative)),
            }
            let held = std::os::fd::AsRawFd::as_raw_fd(&held);
            rustix::fs::chmod(format!("/proc/self/fd/{held}"), bits).map_err(fail)
        }
        #[cfg(not(target_os = "linux"))]
        rustix::fs::chmodat(&parent, name, bits, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)
    }

    /// Takes permission bits away from a plain file or directory. Never goes through a link, never touches a file with a
    /// second name.
    pub fn remove_permissions(&self, relative: &Path, bits: u32) -> Result<(), WriteError> {
        let refuse = || WriteError::NotBeneath {
            path: self.path().join(relative),
        };
        let fail = |error: Errno| WriteError::Io {
            path: self.path().join(relative),
            source: error.into(),
        };
        let file = open::beneath(
            self.descriptor(),
            relative,
            self.backend(),
            open::FILE_FLAGS,
        )
        .map_err(|failure| match failure {
            OpenFailure::LinkOrEscape | OpenFailure::NotAFile => refuse(),
            OpenFailure::Missing => fail(Errno::NOENT),
            OpenFailure::Unstable => fail(Errno::AGAIN),
            OpenFailure::Io(error) => fail(error),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        match file_type(&stat) {
            FileType::RegularFile if stat.st_nlink == 1 => {}
            FileType::Directory => {}
            _ => return Err(refuse()),
        }
        let mode = stat.st_mode & 0o7777 & !bits;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(fail)
    }
}
