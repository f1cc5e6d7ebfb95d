//! What a commit holds below the workspace, as a list of paths.

use super::git::Git;
use crate::error::{ErrorKind, RuntimeError};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The most entries that a workspace may have in a commit.
const MAX_ENTRIES: usize = 50_000;
/// The most bytes of a listing: no path is longer than this leaves room for.
const MAX_LISTING_BYTES: u64 = MAX_ENTRIES as u64 * 4_200;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Link,
    /// A commit of another repository; its files are not in this one.
    Submodule,
}

/// One path in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    pub(super) id: String,
    /// Unknown for submodules, and for what a partial clone left out.
    pub(super) size: Option<u64>,
}

/// Every file, link and submodule, by path. What is below a directory stands right behind it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
    /// Paths that no honest commit has: they climb, or start at `/`.
    pub(super) crooked: usize,
}

impl Tree {
    /// Lists a tree object.
    pub(super) fn list(git: &Git<'_>, id: &str) -> Result<Self, RuntimeError> {
        let mut tree = Self::default();
        let listing = ["ls-tree", "-r", "-z", "--long", "--full-tree", id];
        git.each(&listing, MAX_LISTING_BYTES, |line| tree.add(line))?;
        Ok(tree)
    }

    /// Adds a line: mode, type, id and size, a tab, the path.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), RuntimeError> {
        if self.entries.len() + self.crooked >= MAX_ENTRIES {
            return Err(RuntimeError::new(
                ErrorKind::User,
                format!("The workspace has more than {MAX_ENTRIES} entries in that revision."),
            )
            .hint("name a directory that contains only the workspace"));
        }
        let unclear =
            || RuntimeError::new(ErrorKind::Internal, "Could not parse the output of `git`.");
        let tab = line
            .iter()
            .position(|byte| *byte == b'\t')
            .ok_or_else(unclear)?;
        let head = std::str::from_utf8(&line[..tab]).map_err(|_| unclear())?;
        let fields: Vec<&str> = head.split_ascii_whitespace().collect();
        let [mode, kind, id, size] = fields[..] else {
            return Err(unclear());
        };
        let kind = match (mode, kind) {
            ("120000", "blob") => EntryKind::Link,
            (_, "blob") => EntryKind::File,
            (_, "commit") => EntryKind::Submodule,
            _ => return Err(unclear()),
        };
        let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
        let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if path.as_os_str().is_empty() || !path.components().all(is_plain) {
            self.crooked += 1;
            return Ok(());
        }
        let entry = Entry {
            kind,
            id: id.to_owned(),
            size: size.parse().ok(),
        };
        self.entries.insert(path, entry);
        Ok(())
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    pub(super) fn of_kind(&self, kind: EntryKind) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries
            .iter()
            .filter(move |(_, entry)| entry.kind == kind)
            .map(|(path, entry)| (path.as_path(), entry))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// Tells whether something lies below a path.
    pub(super) fn is_directory(&self, path: &Path) -> bool {
        let behind = (Bound::Excluded(path), Bound::Unbounded);
        let next = self.entries.range::<Path, _>(behind).next();
        path.as_os_str().is_empty() || next.is_some_and(|(next, _)| next.starts_with(path))
    }
}
