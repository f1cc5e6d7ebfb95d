//! What stands where a plan would write.

use super::plan::{PlannedFile, UnpackPlan};
use crate::digest::{Digest, Hashing};
use crate::error::{ErrorClass, PackError};
use chitin_guard::{
    DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root,
};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// What stands under the name of a planned file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExistingEntry {
    /// Nothing.
    Absent,
    /// The same file already.
    Same,
    /// Another file.
    Other(ExistingFile),
}

/// A file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExistingFile {
    pub(super) fingerprint: Fingerprint,
    pub(super) mode: u32,
}

impl ExistingFile {
    /// Tells whether nobody wrote to it since. A second name, which moves the time of the last status change, is no write.
    pub(super) fn is_still(self, now: &Fingerprint) -> bool {
        let ctime = now.ctime;
        let then = self.fingerprint;
        Fingerprint { ctime, ..then } == *now
    }

    /// Returns the permission bits of what replaces it: the same, but for the right to run it.
    pub(super) const fn replaced_mode(self, executable: bool) -> u32 {
        match (executable, self.mode & 0o111 != 0) {
            (true, false) => self.mode | ((self.mode & 0o444) >> 2),
            (false, true) => self.mode & !0o111,
            _ => self.mode,
        }
    }
}

/// An existing file is read whole, whatever other names it has: only its digest is taken.
const READ: ReadPolicy = ReadPolicy {
    links: LinkPolicy::Refuse,
    hardlinks: Hardlinks::Allow,
    max_bytes: u64::MAX,
    oversized: Oversized::Keep,
};

/// Looks at every target, in the order of the plan. Links, odd entries, and directories and files in each other's place are
/// refused, all at once.
pub(super) fn compare(
    plan: &UnpackPlan,
    existing: Option<&Root>,
) -> Result<Vec<ExistingEntry>, PackError> {
    let Some(root) = existing else {
        return Ok(vec![ExistingEntry::Absent; plan.files.len()]);
    };
    let mut look = Look {
        root,
        directories: HashMap::new(),
        links: Vec::new(),
        blocked: Vec::new(),
    };
    let standing = plan
        .files
        .iter()
        .map(|file| look.at(file))
        .collect::<Result<_, _>>()?;
    look.refuse()?;
    Ok(standing)
}

struct Look<'p> {
    root: &'p Root,
    directories: HashMap<&'p str, Way>,
    /// Links and odd entries on the way.
    links: Vec<String>,
    /// Files where directories are needed, and the other way round.
    blocked: Vec<String>,
}

/// What the way to a file is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    Absent,
    Blocked,
}

impl<'p> Look<'p> {
    fn at(&mut self, file: &'p PlannedFile) -> Result<ExistingEntry, PackError> {
        let path = file.path.as_str();
        for (end, _) in path.match_indices('/') {
            match self.way(&path[..end]) {
                Way::Open => {}
                Way::Absent | Way::Blocked => return Ok(ExistingEntry::Absent),
            }
        }
        match self.root.kind(Path::new(path)) {
            None => Ok(ExistingEntry::Absent),
            Some(DirectoryEntryKind::File) => self.standing(file),
            Some(DirectoryEntryKind::Directory) => {
                self.blocked.push(path.to_owned());
                Ok(ExistingEntry::Absent)
            }
            Some(DirectoryEntryKind::Link | DirectoryEntryKind::Other) => {
                self.links.push(path.to_owned());
                Ok(ExistingEntry::Absent)
            }
        }
    }

    fn way(&mut self, directory: &'p str) -> Way {
        if let Some(known) = self.directories.get(directory) {
            return *known;
        }
        let way = match self.root.kind(Path::new(directory)) {
            None => Way::Absent,
            Some(DirectoryEntryKind::Directory) => Way::Open,
            Some(DirectoryEntryKind::File) => {
                self.blocked.push(directory.to_owned());
                Way::Blocked
            }
            Some(DirectoryEntryKind::Link | DirectoryEntryKind::Other) => {
                self.links.push(directory.to_owned());
                Way::Blocked
            }
        };
        self.directories.insert(directory, way);
        way
    }

    fn standing(&self, file: &PlannedFile) -> Result<ExistingEntry, PackError> {
        let unread = |error: &dyn std::error::Error| {
            let message = format!("`{}` cannot be compared: {error}", file.path.escape_debug());
            PackError::new(ErrorClass::Io, message)
        };
        let reader = self.root.open_reader(Path::new(&file.path), &READ);
        let mut reader = reader.map_err(|error| unread(&error))?;
        let found = ExistingFile {
            fingerprint: reader.fingerprint,
            mode: reader.mode & 0o777,
        };
        let is_same = file.size == found.fingerprint.size
            && file.executable == (found.mode & 0o111 != 0)
            && file.digest == digest_of(&mut reader).map_err(|error| unread(&error))?;
        Ok(if is_same {
            ExistingEntry::Same
        } else {
            ExistingEntry::Other(found)
        })
    }

    fn refuse(self) -> Result<(), PackError> {
        if !self.links.is_empty() {
            return Err(PackError::new(
                ErrorClass::UnsafeTarget,
                "a link or something else that is no file stands in the way",
            )
            .about(self.links)
            .hint("nothing was written; move it away or choose another directory"));
        }
        if !self.blocked.is_empty() {
            return Err(PackError::new(
                ErrorClass::Conflict,
                "a file stands where a directory is needed, or the other way round",
            )
            .about(self.blocked)
            .hint("nothing was written; move it away or choose another directory"));
        }
        Ok(())
    }
}

fn digest_of(reader: &mut impl io::Read) -> io::Result<Digest> {
    let mut hashing = Hashing::new(io::sink());
    io::copy(reader, &mut hashing)?;
    let (_, digest, _) = hashing.finish();
    Ok(digest)
}
