//! Looking at all that a directory holds, without opening any of it.

use super::fingerprint::{Fingerprint, file_type};
use super::open;
use super::policy::LinkPolicy;
use super::root::{DirectoryEntryKind, ReadError, Root};
use super::temporary::process_in;
use chitin_protocol::record::FileRefusal;
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// One name in a directory and what stands there, links not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurveyEntry {
    /// The name, as spelled on disk.
    pub name: OsString,
    /// What it names.
    pub kind: DirectoryEntryKind,
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// How many names it has.
    pub names: u64,
    /// Its permission bits.
    pub mode: u32,
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the count of names has another width on other platforms"
)]
fn looked(name: OsString, stat: &Stat) -> SurveyEntry {
    SurveyEntry {
        name,
        kind: file_type(stat).into(),
        fingerprint: Fingerprint::from(stat),
        names: stat.st_nlink as u64,
        mode: stat.st_mode & 0o7777,
    }
}

impl Root {
    /// Describes every name in a directory beneath the root, unsorted, following no link, without the temporary names of files
    /// that are being written. Stops with an error past `limit` names. A name that goes away meanwhile was never there.
    pub fn survey(&self, relative: &Path, limit: usize) -> Result<Vec<SurveyEntry>, ReadError> {
        let directory = self.open_directory(relative, &LinkPolicy::Refuse)?;
        let mut found = Vec::new();
        let mut failed = None;
        let whole = open::each_name(&directory, |name, _| {
            let bytes = name.to_bytes();
            if matches!(bytes, b"." | b"..") || process_in(bytes).is_some() {
                return true;
            }
            match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => {
                    let name = OsString::from_vec(name.to_bytes().to_vec());
                    found.push(looked(name, &stat));
                }
                Err(Errno::NOENT) => {}
                Err(error) => failed = Some(error),
            }
            failed.is_none() && found.len() <= limit
        });
        if let Some(error) = failed {
            return Err(self.io(relative, error));
        }
        if !whole.map_err(|e| self.io(relative, e))? {
            return Err(self.refused(relative, FileRefusal::TooLarge));
        }
        Ok(found)
    }
}
