//! Lists of files, sorted and bounded.

use chitin_guard::{DirectoryEntry, DirectoryEntryKind, LinkPolicy, ReadPolicy, Root};
use chitin_guard::{Hardlinks, Oversized};
use std::path::{Path, PathBuf};

/// How many names a directory may have.
const MAX_NAMES: usize = 200_000;
/// How deep directories may nest.
const MAX_DEPTH: usize = 16;

/// How files of a home are read: links may lead anywhere inside, and a second name is fine, because nothing is written.
pub(crate) const fn reading(max_bytes: u64) -> ReadPolicy {
    ReadPolicy {
        links: LinkPolicy::EndInside,
        hardlinks: Hardlinks::Allow,
        max_bytes,
        oversized: Oversized::Refuse,
    }
}

/// Returns the names in a directory, sorted; none if it is not there or cannot be listed. Names that are not UTF-8 are left out: no
/// release writes them.
pub(crate) fn names(root: &Root, directory: &Path) -> Vec<(String, DirectoryEntryKind)> {
    let listed = root.list_with_leftovers(directory, &LinkPolicy::EndInside, MAX_NAMES);
    let mut names: Vec<_> = listed
        .unwrap_or_default()
        .into_iter()
        .filter_map(|entry: DirectoryEntry| Some((entry.name.into_string().ok()?, entry.kind)))
        .collect();
    names.sort();
    names
}

/// Returns the names of the directories in a directory; links to directories count.
pub(crate) fn directories(root: &Root, directory: &Path) -> Vec<String> {
    let is_directory = |name: &str, kind| match kind {
        DirectoryEntryKind::Directory => true,
        DirectoryEntryKind::Link => {
            let end = root.walk(&directory.join(name), &LinkPolicy::EndInside);
            end.is_ok_and(|end| end.kind == DirectoryEntryKind::Directory)
        }
        DirectoryEntryKind::File | DirectoryEntryKind::Other => false,
    };
    names(root, directory)
        .into_iter()
        .filter(|(name, kind)| is_directory(name, *kind))
        .map(|(name, _)| name)
        .collect()
}

/// Returns the names of the files in a directory; links count, and are judged when they are read.
pub(crate) fn files(root: &Root, directory: &Path) -> Vec<String> {
    let is_file = |kind| matches!(kind, DirectoryEntryKind::File | DirectoryEntryKind::Link);
    names(root, directory)
        .into_iter()
        .filter(|(_, kind)| is_file(*kind))
        .map(|(name, _)| name)
        .collect()
}

/// Returns every file below a directory, by relative path, sorted; links are not followed, `skip` leaves out whole directories. The
/// second value tells whether `most` ended it.
pub(crate) fn below(
    root: &Root,
    directory: &Path,
    most: usize,
    skip: &dyn Fn(&Path) -> bool,
) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let mut open = vec![(directory.to_path_buf(), 0)];
    while let Some((here, depth)) = open.pop() {
        for (name, kind) in names(root, &here) {
            let path = here.join(&name);
            match kind {
                DirectoryEntryKind::Directory if depth < MAX_DEPTH && !skip(&path) => {
                    open.push((path, depth + 1));
                }
                DirectoryEntryKind::File if found.len() >= most => {
                    found.sort();
                    return (found, true);
                }
                DirectoryEntryKind::File => found.push(path),
                DirectoryEntryKind::Directory
                | DirectoryEntryKind::Link
                | DirectoryEntryKind::Other => {}
            }
        }
    }
    found.sort();
    (found, false)
}

/// Tells whether something stands at a path beneath the root.
pub(crate) fn is_there(root: &Root, relative: &Path) -> bool {
    root.kind(relative).is_some()
}
