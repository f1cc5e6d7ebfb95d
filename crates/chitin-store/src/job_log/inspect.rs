//! Looks at a job log without having it, and writes it for an earlier version.

use super::contents::Contents;
use super::file::{LOCK, MAX_BYTES, NAME, locked, replace};
use super::items::Known;
use super::{JobLogDamage, aside};
use crate::disk::{Directory, Open};
use crate::store::{LockMode, StoreError};
use std::path::{Path, PathBuf};

/// What is known of a job log that another process may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLogInspection {
    /// How many things are open.
    pub open: usize,
    /// Damage that no server has dealt with yet.
    pub damage: Option<JobLogDamage>,
    /// Damaged files that were set aside earlier.
    pub set_aside: Vec<PathBuf>,
}

/// Looks at the job log in a directory; `None` when there is none. Nothing is changed.
pub fn inspect(directory: &Path) -> Result<Option<JobLogInspection>, StoreError> {
    let Some(directory) = Directory::open(directory)? else {
        return Ok(None);
    };
    let bytes = match directory.file(NAME, Open::Read)? {
        Some(file) => file.read_all(MAX_BYTES)?,
        None => Vec::new(),
    };
    let contents = Contents::read(&bytes, Known::default());
    let was_there = directory.listed(LOCK)?.is_some_and(|lock| lock.bytes > 0);
    let is_gone = bytes.is_empty() && was_there;
    let damage = (is_gone || !contents.damage.is_none()).then(|| JobLogDamage {
        path: directory.path_of(NAME),
        bytes: contents.damage.bytes,
        lines: contents.damage.lines,
        misplaced: contents.damage.misplaced,
        set_aside: None,
        is_gone,
    });
    let set_aside = aside::list(&directory)?.into_iter();
    Ok(Some(JobLogInspection {
        open: contents.open.iter().count(),
        damage,
        set_aside: set_aside
            .map(|file| directory.path_of(&file.name))
            .collect(),
    }))
}

/// Writes the job log in the format that earlier versions read, for going back to one of them. Returns how many things are open;
/// `None` when there is no log. No process may have it.
pub fn downgrade(directory: &Path) -> Result<Option<usize>, StoreError> {
    let Some(directory) = Directory::open(directory)? else {
        return Ok(None);
    };
    let lock = locked(&directory, LockMode::Refuse)?;
    let Some(file) = directory.file(NAME, Open::Read)? else {
        return Ok(None);
    };
    let read = file.read_all(MAX_BYTES)?;
    let contents = Contents::read(&read, Known::default());
    if !contents.damage.is_none() {
        aside::copy(&directory, &file, &read)?;
    }
    let mut bytes = Vec::new();
    for item in contents.open.iter() {
        serde_json::to_writer(&mut bytes, &item.batch())
            .map_err(|error| crate::disk::damaged(directory.path_of(NAME), error.to_string()))?;
        bytes.push(b'\n');
    }
    replace(&directory, &bytes)?;
    directory.sync()?;
    // An earlier version may leave an empty log behind.
    lock.truncate(0)?;
    Ok(Some(contents.open.iter().count()))
}
