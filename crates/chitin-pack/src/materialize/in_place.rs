//! The second best way: files are written under other names and then renamed one after the other.

use super::apply::{Changes, directories, refused, usual_mode};
use super::compare::ExistingEntry;
use super::contents::Contents;
use super::plan::UnpackPlan;
use super::write::{copy, each_file};
use crate::error::PackError;
use chitin_guard::{Expected, PreparedChange, Root, TargetDirectory, commit_all};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Writes the changed files. When one cannot be written, those before it are taken back.
pub(super) fn write(
    plan: &UnpackPlan,
    contents: Contents<'_>,
    place: &TargetDirectory,
    changes: &Changes<'_>,
) -> Result<(), PackError> {
    let (root, _) = Root::create(place.path()).map_err(refused)?;
    let mut created = Vec::new();
    let result = written(plan, contents, &root, changes, &mut created);
    if result.is_err() {
        for directory in created.iter().rev() {
            let _ = root.remove_empty_directory(directory);
        }
    }
    result
}

fn written(
    plan: &UnpackPlan,
    contents: Contents<'_>,
    root: &Root,
    changes: &Changes<'_>,
    created: &mut Vec<PathBuf>,
) -> Result<(), PackError> {
    for directory in directories(changes) {
        let directory = Path::new(directory);
        if root.kind(directory).is_none() {
            root.make_directories(directory).map_err(refused)?;
            created.push(directory.to_path_buf());
        }
    }
    let mut prepared: Vec<PreparedChange> = Vec::new();
    // One open directory serves all files in it.
    let mut held: HashMap<PathBuf, usize> = HashMap::new();
    each_file(plan, contents, |file, content| {
        let Some(standing) = changes.get(file.path.as_str()) else {
            return Ok(());
        };
        let path = Path::new(&file.path);
        let directory = path.parent().unwrap_or(Path::new(""));
        let (expected, mode) = match standing {
            ExistingEntry::Absent | ExistingEntry::Same => (Expected::Absent, usual_mode(file)),
            ExistingEntry::Other(found) => (
                Expected::Unchanged(found.fingerprint),
                found.replaced_mode(file.executable),
            ),
        };
        let new = match held.get(directory) {
            Some(beside) => prepared[*beside].begin_beside(mode),
            None => root.begin_file(directory, mode),
        };
        let mut new = new.map_err(refused)?;
        copy(file, content, &mut new)?;
        held.entry(directory.to_path_buf())
            .or_insert(prepared.len());
        prepared.push(
            root.prepare_file(new, path, expected, mode)
                .map_err(refused)?,
        );
        Ok(())
    })?;
    commit_all(prepared).map_err(refused)
}
