//! Where a directory is or would be, and what earlier attempts to replace it left there.

use super::policy::LinkPolicy;
use super::root::{DirectoryEntryKind, ReadError, Root};
use super::write::WriteError;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// How many names beside a directory are looked at for leftovers.
const MAX_NAMES: usize = 100_000;
/// What every staging directory has in its name.
const MARK: &str = ".chitin-";
/// The tree in a staging directory; nothing else is ever in one.
pub(super) const TREE: &str = "tree";

/// The place of a directory: the directory itself if it is there, and the one above in which it can be exchanged.
#[derive(Debug)]
pub struct TargetDirectory {
    path: PathBuf,
    /// `None` for the root of everything.
    pub(super) above: Option<Root>,
    /// The name to exchange in the directory above.
    pub(super) name: OsString,
    /// Further directories that do not exist yet, below the name.
    pub(super) below: PathBuf,
    existing: Option<Root>,
}

impl TargetDirectory {
    /// Finds the place of a directory. The way there may lead through links, as in any path that a user writes; a link to
    /// nothing or a file in its place is refused.
    pub fn find(path: &Path) -> Result<Self, WriteError> {
        match Root::open(path) {
            Ok(existing) => Ok(Self::of_existing(path, existing)),
            Err(ReadError::Missing { .. }) => Self::of_absent(path),
            Err(error) => Err(not_a_directory(path, error)),
        }
    }

    fn of_existing(path: &Path, existing: Root) -> Self {
        let real = existing.real_path();
        let above = match real.parent() {
            Some(parent) => Root::open(parent).ok(),
            None => None,
        };
        Self {
            path: path.into(),
            above,
            name: real.file_name().unwrap_or_default().to_owned(),
            below: PathBuf::new(),
            existing: Some(existing),
        }
    }

    fn of_absent(path: &Path) -> Result<Self, WriteError> {
        for parent in path.ancestors().skip(1) {
            let spelled = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            let above = match Root::open(spelled) {
                Ok(above) => above,
                Err(ReadError::Missing { .. }) => continue,
                Err(error) => return Err(not_a_directory(path, error)),
            };
            let rest = path.strip_prefix(parent).unwrap_or(path);
            let mut parts = rest.components().filter(|part| *part != Component::CurDir);
            let plain = rest
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let Some(Component::Normal(name)) = parts.next().filter(|_| plain) else {
                break;
            };
            if above.kind(Path::new(name)).is_some() {
                break;
            }
            return Ok(Self {
                path: path.into(),
                name: name.to_owned(),
                below: parts.collect(),
                above: Some(above),
                existing: None,
            });
        }
        Err(WriteError::NotBeneath { path: path.into() })
    }

    /// Returns the path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory, if it is there.
    pub const fn existing(&self) -> Option<&Root> {
        self.existing.as_ref()
    }

    /// Removes what processes left that were killed while they replaced this directory.
    pub fn clear_leftovers(&self) {
        let Some(above) = &self.above else { return };
        let Ok(entries) = above.list(Path::new(""), &LinkPolicy::Refuse, MAX_NAMES) else {
            return;
        };
        for entry in entries {
            if entry.kind != DirectoryEntryKind::Directory || !self.is_staging_name(&entry.name) {
                continue;
            }
            if let Some(scratch) = above.take_abandoned_scratch(Path::new(&entry.name)) {
                let held =
                    scratch
                        .root()
                        .list_with_leftovers(Path::new(""), &LinkPolicy::Refuse, 2);
                let is_ours = held.is_ok_and(|held| held.iter().all(|entry| entry.name == TREE));
                if !is_ours {
                    // Somebody gave a directory of theirs such a name.
                    scratch.leave();
                }
            }
        }
    }

    /// Makes up the name of a staging directory.
    pub(super) fn staging_name(&self, count: u32) -> OsString {
        let mut name = self.staging_prefix();
        name.push(format!("{}-{count}", std::process::id()));
        name
    }

    fn staging_prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        let name = self.name.as_bytes();
        // The longest names leave no room for an ending.
        prefix.push(OsStr::from_bytes(&name[..name.len().min(200)]));
        prefix.push(MARK);
        prefix
    }

    fn is_staging_name(&self, name: &OsStr) -> bool {
        let prefix = self.staging_prefix();
        name.as_bytes()
            .strip_prefix(prefix.as_bytes())
            .and_then(|rest| std::str::from_utf8(rest).ok()?.split_once('-'))
            .is_some_and(|(process, count)| {
                [process, count]
                    .iter()
                    .all(|part| part.parse::<u32>().is_ok())
            })
    }
}

fn not_a_directory(path: &Path, error: ReadError) -> WriteError {
    match error {
        ReadError::Io { source, .. } if source.kind() != io::ErrorKind::NotADirectory => {
            WriteError::Io {
                path: path.into(),
                source,
            }
        }
        ReadError::Io { .. } | ReadError::Missing { .. } | ReadError::Refused { .. } => {
            WriteError::NotBeneath { path: path.into() }
        }
    }
}
