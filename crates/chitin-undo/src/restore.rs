//! Making changes in a workspace: each only if what stands there is what was expected, each whole or not at all.

use crate::entry::{Change, Entry};
use crate::error::UndoError;
use crate::look::observe;
use crate::objects;
use crate::path::FilePath;
use chitin_guard::{DirectoryEntryKind, Expected, Root, WriteError, WriteOutcome, commit_all};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What a directory needs so that names in it can be changed.
const OWNER: u32 = 0o700;

/// What became of a change.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was made, or was made already.
    Done,
    /// Something else stands there by now.
    Changed,
    /// It is a directory that holds something that is not part of the change.
    NotEmpty,
    /// The operating system refused.
    Failed(UndoError),
}

/// Makes changes in a workspace.
pub(crate) struct Restorer<'a> {
    store: &'a Root,
    workspace: &'a Root,
    max_file_bytes: u64,
    /// Directories that were opened to their owner for a while, with the bits that they get back.
    opened: BTreeMap<FilePath, u32>,
}

impl<'a> Restorer<'a> {
    pub(crate) const fn new(store: &'a Root, workspace: &'a Root, max_file_bytes: u64) -> Self {
        Self {
            store,
            workspace,
            max_file_bytes,
            opened: BTreeMap::new(),
        }
    }

    /// Makes all changes and says what became of each. What goes comes first, so that names are free for what comes.
    pub(crate) fn apply(mut self, changes: &[Change]) -> Vec<(FilePath, Outcome)> {
        let mut outcomes = Vec::new();
        let is_file = |entry: &Option<Entry>| entry.as_ref().is_some_and(|one| !one.is_directory());
        let is_directory = |entry: &Option<Entry>| entry.as_ref().is_some_and(Entry::is_directory);
        // A change of kind is two: the old goes, the new comes.
        let goes = |change: &Change| {
            change.before.is_some()
                && (change.after.is_none()
                    || is_directory(&change.before) != is_directory(&change.after)
                    || is_link(change.before.as_ref()) != is_link(change.after.as_ref()))
        };
        let (old, new): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|one| goes(one));
        let mut came = Vec::new();
        for change in old.iter().filter(|one| is_file(&one.before)) {
            self.step(change, &mut came, &mut outcomes, Self::remove);
        }
        let mut directories: Vec<&&Change> =
            old.iter().filter(|one| is_directory(&one.before)).collect();
        directories.sort_by(|a, b| b.path.cmp(&a.path));
        for change in directories {
            self.step(change, &mut came, &mut outcomes, Self::remove_directory);
        }
        let mut created: Vec<&Change> = new
            .into_iter()
            .chain(came.iter().copied())
            .filter(|one| is_directory(&one.after))
            .collect();
        created.sort_by(|a, b| a.path.cmp(&b.path));
        for change in &created {
            let outcome = self.make_directory(change);
            outcomes.push((change.path.clone(), outcome));
        }
        let files = changes.iter().filter(|one| is_file(&one.after));
        for change in files.filter(|one| !goes(one) || came.contains(one)) {
            let outcome = self.put(change);
            outcomes.push((change.path.clone(), outcome));
        }
        self.close(&created, &mut outcomes);
        outcomes
    }

    fn step<'c>(
        &mut self,
        change: &'c Change,
        came: &mut Vec<&'c Change>,
        outcomes: &mut Vec<(FilePath, Outcome)>,
        remove: impl Fn(&mut Self, &Change) -> Result<Outcome, UndoError>,
    ) {
        let outcome = remove(self, change).unwrap_or_else(Outcome::Failed);
        if matches!(outcome, Outcome::Done) && change.after.is_some() {
            came.push(change);
        } else {
            outcomes.push((change.path.clone(), outcome));
        }
    }

    /// Removes a file or a link.
    fn remove(&mut self, change: &Change) -> Result<Outcome, UndoError> {
        let path = change.path.as_path();
        self.open_parent(&change.path)?;
        let found = observe(self.workspace, &change.path, self.max_file_bytes)?;
        let Some((entry, fingerprint)) = found else {
            return Ok(Outcome::Done);
        };
        if change.after.as_ref() == Some(&entry) || same_kind(&entry, change.after.as_ref()) {
            // A crash came after this step.
            return Ok(Outcome::Done);
        }
        if !is_as(change.before.as_ref(), Some(&entry)) {
            return Ok(Outcome::Changed);
        }
        if let Entry::Link { text } = &entry {
            let text = Path::new(OsStr::from_bytes(text));
            return Ok(if self.workspace.remove_link(path, text)? {
                Outcome::Done
            } else {
                Outcome::Changed
            });
        }
        let removed = self
            .workspace
            .prepare_remove(path, fingerprint)
            .and_then(|change| commit_all(vec![change]));
        written(removed)
    }

    fn remove_directory(&mut self, change: &Change) -> Result<Outcome, UndoError> {
        let path = change.path.as_path();
        self.open_parent(&change.path)?;
        if self.workspace.kind(path) != Some(DirectoryEntryKind::Directory) {
            return Ok(match self.workspace.kind(path) {
                None => Outcome::Done,
                Some(_) if change.after.is_some() => Outcome::Done,
                Some(_) => Outcome::Changed,
            });
        }
        Ok(match self.workspace.remove_empty_directory(path) {
            Ok(()) => Outcome::Done,
            Err(WriteError::Io { source, .. }) if source.kind() == ErrorKind::DirectoryNotEmpty => {
                Outcome::NotEmpty
            }
            Err(error) => return Err(error.into()),
        })
    }

    /// Makes a directory, or opens one to its owner; it gets its permission bits at the end.
    fn make_directory(&mut self, change: &Change) -> Outcome {
        let path = change.path.as_path();
        if let Err(error) = self.open_parent(&change.path) {
            return Outcome::Failed(error);
        }
        match self.workspace.kind(path) {
            Some(DirectoryEntryKind::Directory) => Outcome::Done,
            Some(_) => Outcome::Changed,
            None => match self.workspace.make_directories(path) {
                Ok(()) => Outcome::Done,
                Err(error) => Outcome::Failed(error.into()),
            },
        }
    }

    /// Puts a file or a link under its name.
    fn put(&mut self, change: &Change) -> Outcome {
        self.try_put(change).unwrap_or_else(Outcome::Failed)
    }

    fn try_put(&mut self, change: &Change) -> Result<Outcome, UndoError> {
        self.open_parent(&change.path)?;
        let found = observe(self.workspace, &change.path, self.max_file_bytes)?;
        let now = found.as_ref().map(|(entry, _)| entry);
        if now == change.after.as_ref() {
            return Ok(Outcome::Done);
        }
        // What had another kind was removed before.
        let was_removed = now.is_none();
        if !was_removed && !is_as(change.before.as_ref(), now) {
            return Ok(Outcome::Changed);
        }
        if let Some(parent) = change.path.parent() {
            self.workspace.make_directories(parent.as_path())?;
        }
        let path = change.path.as_path();
        match &change.after {
            Some(Entry::Link { text }) => {
                if let Some(Entry::Link { text }) = now {
                    let old = Path::new(OsStr::from_bytes(text));
                    if !self.workspace.remove_link(path, old)? {
                        return Ok(Outcome::Changed);
                    }
                }
                let text = Path::new(OsStr::from_bytes(text));
                Ok(match self.workspace.make_link(path, text)? {
                    WriteOutcome::Created => Outcome::Done,
                    WriteOutcome::AlreadyThere => Outcome::Changed,
                })
            }
            Some(Entry::File {
                content,
                size,
                mode,
            }) => {
                let is_same_content =
                    matches!(now, Some(Entry::File { content: now, .. }) if now == content);
                if is_same_content {
                    return written(self.workspace.set_permissions(path, *mode));
                }
                let expected = match &found {
                    Some((_, fingerprint)) => Expected::Unchanged(*fingerprint),
                    None => Expected::Absent,
                };
                self.write(&change.path, (*content, *size, *mode), expected)
            }
            Some(Entry::Directory { .. } | Entry::Uncovered { .. }) | None => Ok(Outcome::Changed),
        }
    }

    fn write(
        &self,
        path: &FilePath,
        (content, size, mode): (crate::ContentId, u64, u32),
        expected: Expected,
    ) -> Result<Outcome, UndoError> {
        let path = path.as_path();
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut new = self.workspace.begin_file(directory, 0o600)?;
        objects::copy(self.store, content, size, &mut new)?;
        let prepared = self
            .workspace
            .prepare_file_exactly(new, path, expected, mode);
        written(prepared.and_then(|change| commit_all(vec![change])))
    }

    /// Lets the owner see and change names in the directory of a path.
    fn open_parent(&mut self, path: &FilePath) -> Result<(), UndoError> {
        let Some(parent) = path.parent() else {
            return Ok(());
        };
        let mut above: Vec<FilePath> =
            std::iter::successors(Some(parent), FilePath::parent).collect();
        above.reverse();
        for directory in above {
            let Some(mode) = self.workspace.mode(directory.as_path()) else {
                break;
            };
            let is_directory =
                self.workspace.kind(directory.as_path()) == Some(DirectoryEntryKind::Directory);
            if is_directory && mode & OWNER != OWNER && !self.opened.contains_key(&directory) {
                self.workspace
                    .set_permissions(directory.as_path(), mode | OWNER)?;
                self.opened.insert(directory, mode);
            }
        }
        Ok(())
    }

    /// Gives directories their permission bits, the deepest first.
    fn close(self, created: &[&Change], outcomes: &mut Vec<(FilePath, Outcome)>) {
        let mut modes = self.opened;
        for change in created {
            if let Some(mode) = change.after.as_ref().and_then(Entry::mode) {
                modes.insert(change.path.clone(), mode);
            }
        }
        for (path, mode) in modes.iter().rev() {
            let is_there =
                self.workspace.kind(path.as_path()) == Some(DirectoryEntryKind::Directory);
            if is_there
                && self.workspace.mode(path.as_path()) != Some(*mode)
                && let Err(error) = self.workspace.set_permissions(path.as_path(), *mode)
            {
                outcomes.push((path.clone(), Outcome::Failed(error.into())));
            }
        }
    }
}

fn is_link(entry: Option<&Entry>) -> bool {
    matches!(entry, Some(Entry::Link { .. }))
}

/// Tells whether what stands there is what was expected. Of a file without a content all that is known has to match.
fn is_as(expected: Option<&Entry>, now: Option<&Entry>) -> bool {
    match (expected, now) {
        (
            Some(Entry::Uncovered { size, mode, .. }),
            Some(
                Entry::File {
                    size: now_size,
                    mode: now_mode,
                    ..
                }
                | Entry::Uncovered {
                    size: now_size,
                    mode: now_mode,
                    ..
                },
            ),
        ) => size == now_size && mode == now_mode,
        (expected, now) => expected == now,
    }
}

/// Tells whether an entry has the kind that a change leads to: then its old one is gone already.
fn same_kind(entry: &Entry, after: Option<&Entry>) -> bool {
    after.is_some_and(|after| std::mem::discriminant(entry) == std::mem::discriminant(after))
}

fn written(result: Result<(), WriteError>) -> Result<Outcome, UndoError> {
    match result {
        Ok(()) => Ok(Outcome::Done),
        Err(WriteError::Changed { .. } | WriteError::NotBeneath { .. }) => Ok(Outcome::Changed),
        Err(error) => Err(error.into()),
    }
}

/// Returns directories that would have to be opened to their owner for changes, with their bits.
pub(crate) fn closed_directories(workspace: &Root, changes: &[Change]) -> BTreeMap<FilePath, u32> {
    let mut closed = BTreeMap::new();
    for change in changes {
        let above = std::iter::successors(change.path.parent(), FilePath::parent);
        for directory in above {
            if let Some(mode) = workspace.mode(directory.as_path())
                && mode & OWNER != OWNER
            {
                closed.insert(directory, mode);
            }
        }
    }
    closed
}
