//! Damaged job logs, set aside beside the log for whoever wants to look at them.

use super::file::NAME;
use crate::disk::{Directory, File, Listed, Open, damaged};
use crate::store::StoreError;
use std::path::PathBuf;

/// What comes before the time in the name of a file that was set aside.
const PREFIX: &str = "ledger.jsonl.damaged-";
/// How many such files are kept; the oldest go.
const MOST: usize = 8;
/// How much of a damaged file is copied at most.
const MOST_BYTES: usize = 64 << 20;

/// Returns the files that were set aside, oldest first.
pub(super) fn list(directory: &Directory) -> Result<Vec<Listed>, StoreError> {
    let mut files = directory.list(|name| name.starts_with(PREFIX))?;
    files.sort_by(|one, other| {
        let key = |file: &Listed| (file.modified_ms, file.name.clone());
        key(one).cmp(&key(other))
    });
    Ok(files)
}

/// Copies a damaged log, so that the log can be written anew.
pub(super) fn copy(
    directory: &Directory,
    file: &File,
    bytes: &[u8],
) -> Result<PathBuf, StoreError> {
    make_room(directory)?;
    let taken = &bytes[..bytes.len().min(MOST_BYTES)];
    for name in names(file_time(directory)?) {
        let Some(copy) = directory.file(&name, Open::CreateNew)? else {
            continue;
        };
        if let Err(error) = copy.write_all(taken).and_then(|()| copy.sync_data()) {
            let _ = directory.remove(&name);
            return Err(error);
        }
        directory.sync()?;
        return Ok(directory.path_of(&name));
    }
    Err(damaged(
        file.path().to_path_buf(),
        "no name is free to set it aside",
    ))
}

/// Gives a file that took the log's place another name.
pub(super) fn rename(directory: &Directory) -> Result<(), StoreError> {
    make_room(directory)?;
    directory.set_aside(NAME, names(file_time(directory)?))?;
    Ok(())
}

/// Returns when the log was last written.
fn file_time(directory: &Directory) -> Result<i64, StoreError> {
    Ok(directory.listed(NAME)?.map_or(0, |file| file.modified_ms))
}

fn names(time: i64) -> impl Iterator<Item = String> {
    (1..1000).map(move |number| match number {
        1 => format!("{PREFIX}{time}"),
        number => format!("{PREFIX}{time}-{number}"),
    })
}

fn make_room(directory: &Directory) -> Result<(), StoreError> {
    let files = list(directory)?;
    for oldest in files.iter().take((files.len() + 1).saturating_sub(MOST)) {
        directory.remove(&oldest.name)?;
    }
    Ok(())
}
