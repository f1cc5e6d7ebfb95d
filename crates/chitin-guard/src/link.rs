//! Symbolic links as what they are: a text under a name. None is followed.

use super::root::{ReadError, Root};
use super::write::{WriteError, WriteOutcome, sync_directory};
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

impl Root {
    /// Returns the text of a link beneath the root.
    pub fn link_text(&self, relative: &Path) -> Result<PathBuf, ReadError> {
        let fail = |error: Errno| match error {
            Errno::NOENT | Errno::INVAL => ReadError::Missing {
                path: self.path().join(relative),
            },
            error => self.io(relative, error),
        };
        let (parent, name) = self.parent_of(relative).map_err(|_| fail(Errno::NOENT))?;
        let text = rustix::fs::readlinkat(&parent, name, Vec::new()).map_err(fail)?;
        Ok(PathBuf::from(OsString::from_vec(text.into_bytes())))
    }

    /// Makes a link with exactly this text, unless the name is taken. Wherever the text leads, nothing is looked at or written
    /// there.
    pub fn make_link(&self, relative: &Path, text: &Path) -> Result<WriteOutcome, WriteError> {
        let (parent, name) = self.parent_of(relative)?;
        match rustix::fs::symlinkat(text, &parent, name) {
            Ok(()) => {
                sync_directory(&parent);
                Ok(WriteOutcome::Created)
            }
            Err(Errno::EXIST) => Ok(WriteOutcome::AlreadyThere),
            Err(error) => Err(self.write_error(relative, error)),
        }
    }

    /// Removes a link if its text is this one, and tells whether it did.
    pub fn remove_link(&self, relative: &Path, text: &Path) -> Result<bool, WriteError> {
        if !self.link_text(relative).is_ok_and(|found| found == text) {
            return Ok(false);
        }
        let (parent, name) = self.parent_of(relative)?;
        rustix::fs::unlinkat(&parent, name, AtFlags::empty())
            .map_err(|error| self.write_error(relative, error))?;
        sync_directory(&parent);
        Ok(true)
    }
}
