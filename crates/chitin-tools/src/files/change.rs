//! Changes of files that happen together or not at all.

use super::roots::{Problem, Settled, write_problem};
use chitin_guard::{DirectoryEntryKind, Expected, Fingerprint, commit_all};
use std::path::{Path, PathBuf};

/// Permission bits of a new file, before the process takes its share.
const NEW_FILE: u32 = 0o666;

/// What becomes of one file.
#[derive(Debug)]
pub(super) struct Change<'s> {
    pub(super) target: Settled<'s>,
    /// The file that was read, and its permission bits; `None` when there must be none.
    pub(super) before: Option<(Fingerprint, u32)>,
    /// What it holds then; `None` removes it.
    pub(super) after: Option<Vec<u8>>,
    /// Permission bits of a file that is made.
    pub(super) mode: Option<u32>,
}

/// Makes the directories on the way to a file and returns those that were not there, outermost first.
pub(super) fn created_parents(target: &Settled<'_>) -> Result<Vec<PathBuf>, Problem> {
    let Some(parent) = target.relative.parent() else {
        return Ok(Vec::new());
    };
    let mut missing: Vec<PathBuf> = parent
        .ancestors()
        .filter(|ancestor| !ancestor.as_os_str().is_empty())
        .take_while(|ancestor| target.root.kind(ancestor) != Some(DirectoryEntryKind::Directory))
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    if !missing.is_empty()
        && let Err(error) = target.root.make_directories(parent)
    {
        take_back_parents(target, &missing);
        return Err(target.problem(error));
    }
    Ok(missing)
}

/// Removes directories that were made for a file that did not come.
pub(super) fn take_back_parents(target: &Settled<'_>, parents: &[PathBuf]) {
    for parent in parents.iter().rev() {
        // One that somebody else has put something into stays.
        let _ = target.root.remove_empty_directory(parent);
    }
}

/// Lets all changes happen, or none: when one fails, every file and directory is as it was.
pub(super) fn change_all(changes: &[Change<'_>]) -> Result<(), Problem> {
    let mut parents = Vec::new();
    let result = prepare_and_commit(changes, &mut parents);
    if result.is_err() {
        for (target, parents) in parents.iter().rev() {
            take_back_parents(target, parents);
        }
    }
    result
}

fn prepare_and_commit<'c, 's>(
    changes: &'c [Change<'s>],
    parents: &mut Vec<(&'c Settled<'s>, Vec<PathBuf>)>,
) -> Result<(), Problem> {
    let mut prepared = Vec::new();
    for change in changes {
        let target = &change.target;
        let expected = match change.before {
            Some((found, _)) => Expected::Unchanged(found),
            None => Expected::Absent,
        };
        let ready = match (&change.after, change.before) {
            (Some(bytes), before) => {
                parents.push((target, created_parents(target)?));
                let mode = change.mode.or(before.map(|(_, mode)| mode));
                target.root.prepare_write(
                    &target.relative,
                    bytes,
                    expected,
                    mode.unwrap_or(NEW_FILE),
                )
            }
            (None, Some((found, _))) => target.root.prepare_remove(&target.relative, found),
            (None, None) => continue,
        };
        prepared.push(ready.map_err(|error| target.problem(error))?);
    }
    commit_all(prepared).map_err(|error| {
        let path = error.path().to_owned();
        let shown = changes
            .iter()
            .find(|change| change.target.root.path().join(&change.target.relative) == path)
            .map_or_else(
                || path.display().to_string(),
                |change| change.target.shown.clone(),
            );
        write_problem(&shown, error)
    })
}
