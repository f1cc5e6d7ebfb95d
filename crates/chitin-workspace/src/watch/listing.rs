//! A directory remembered by the fingerprints of its entries, where the operating system reports nothing.

use chitin_guard::{DirectoryEntryKind, Fingerprint, LinkPolicy, Root};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The entries of one directory at one time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listing {
    entries: BTreeMap<OsString, (DirectoryEntryKind, Option<Fingerprint>)>,
    is_whole: bool,
}

/// What a comparison says of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// There was nothing of that name.
    Appeared,
    /// The same entry was written.
    Written,
    /// Another entry has the name now.
    Replaced,
    /// There is nothing of that name any more.
    Gone,
}

impl Listing {
    /// Takes down a directory beneath the root. Past the limit, or when it cannot be read, nothing is taken down.
    pub(super) fn take(root: &Root, directory: &Path, limit: usize) -> Self {
        let Ok(found) = root.list(directory, &LinkPolicy::Refuse, limit) else {
            return Self {
                entries: BTreeMap::new(),
                is_whole: false,
            };
        };
        let look = |name: &OsStr| root.fingerprint(&directory.join(name));
        Self {
            entries: found
                .into_iter()
                .map(|entry| {
                    let fingerprint = look(&entry.name);
                    (entry.name, (entry.kind, fingerprint))
                })
                .collect(),
            is_whole: true,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether every entry was taken down.
    pub(super) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Compares with a later listing of the same directory.
    pub(super) fn differences<'a>(&'a self, later: &'a Self) -> Vec<(&'a OsStr, Difference)> {
        let gone = self.entries.keys().filter_map(|name| {
            (!later.entries.contains_key(name)).then_some((name.as_os_str(), Difference::Gone))
        });
        let here = later.entries.iter().filter_map(|(name, now)| {
            let difference = match self.entries.get(name) {
                None => Some(Difference::Appeared),
                Some(before) => compare(before, now),
            };
            Some((name.as_os_str(), difference?))
        });
        gone.chain(here).collect()
    }
}

fn compare(
    before: &(DirectoryEntryKind, Option<Fingerprint>),
    now: &(DirectoryEntryKind, Option<Fingerprint>),
) -> Option<Difference> {
    if before == now {
        return None;
    }
    let same_file = match (&before.1, &now.1) {
        (Some(before), Some(now)) => before.is_same_file(now),
        (None, _) | (_, None) => false,
    };
    if before.0 != now.0 || !same_file {
        return Some(Difference::Replaced);
    }
    // The times of a directory move with every name in it; what it holds is compared on its own.
    (now.0 != DirectoryEntryKind::Directory).then_some(Difference::Written)
}
