//! Forgetting turns: who asked for what, and the contents that nobody else needs.
//!
//! That files changed stays in the log, as changes of somebody else: turns before and after can still be taken back. What is not needed for that goes,
//! contents first of all. The present content of a file that a forgotten turn wrote goes too; the next look at the workspace stores what stands there.

use crate::entry::{ContentId, Entry};
use crate::error::UndoError;
use crate::history::{LOCK, read_index};
use crate::log::{self, Record, TurnInfo};
use crate::objects;
use crate::path::FilePath;
use crate::running::{self, RunningTurns};
use chitin_guard::{ClaimKind, Fingerprint, ReadError, Root};
use std::collections::HashSet;
use std::path::Path;

/// What was forgotten, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgottenTurns {
    /// The turns.
    pub turns: Vec<TurnInfo>,
    /// How many contents.
    pub contents: usize,
    /// How many bytes these took.
    pub bytes: u64,
}

/// Tells which recorded turns are meant; the store is not changed. `directory` is that of a [`History`](crate::History).
pub fn turns_of(
    directory: &Path,
    is_meant: &dyn Fn(&TurnInfo) -> bool,
) -> Result<Vec<TurnInfo>, UndoError> {
    match Root::open(directory) {
        Ok(store) => Ok(meant(&log::read(&store)?.records, is_meant)),
        Err(ReadError::Missing { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// Forgets turns. The workspace is not looked at, and need not be there. `directory` is that of a [`History`](crate::History). It is an error if one of
/// the turns is running.
pub fn forget(
    directory: &Path,
    is_meant: &dyn Fn(&TurnInfo) -> bool,
) -> Result<ForgottenTurns, UndoError> {
    let store = match Root::open(directory) {
        Ok(store) => store,
        Err(ReadError::Missing { .. }) => return Ok(ForgottenTurns::default()),
        Err(error) => return Err(error.into()),
    };
    let Some(_lock) = store.claim(Path::new(LOCK), ClaimKind::Alone)? else {
        return Err(UndoError::NothingRecorded);
    };
    let running = RunningTurns::find(&store)?;
    if let Some(turn) = running.alive.iter().find(|turn| is_meant(turn)) {
        return Err(UndoError::Running {
            number: turn.number,
            session: turn.session.clone(),
            message: turn.message.clone(),
        });
    }
    for turn in running.dead.iter().filter(|turn| is_meant(&turn.info)) {
        // What it changed and nobody recorded is somebody else's then.
        running::leave(&store, turn.info.number)?;
    }
    let mut records = log::read(&store)?.records;
    let mut forgotten = ForgottenTurns {
        turns: meant(&records, is_meant),
        ..ForgottenTurns::default()
    };
    if forgotten.turns.is_empty() {
        return Ok(forgotten);
    }
    let (mut index, is_new) = read_index(&store)?;
    let is_current = index.log_bytes == log::size(&store);
    let mut only_meant: Vec<usize> = Vec::new();
    for (at, record) in records.iter_mut().enumerate() {
        let had = record.turns.len();
        record.turns.retain(|turn| !is_meant(turn));
        if had > 0 && record.turns.is_empty() {
            only_meant.push(at);
        }
    }
    let only_meant: HashSet<usize> = only_meant.into_iter().collect();
    let others = || {
        let records = records.iter().enumerate();
        records.filter(|(at, _)| !only_meant.contains(at))
    };
    let mut needed: HashSet<ContentId> =
        others().flat_map(|(_, record)| contents(record)).collect();
    let written: HashSet<(FilePath, ContentId)> = only_meant
        .iter()
        .flat_map(|at| &records[*at].changes)
        .filter_map(|change| Some((change.path.clone(), change.after.as_ref()?.content()?)))
        .collect();
    for (path, known) in &mut index.entries {
        let Some(content) = known.entry.content() else {
            continue;
        };
        if needed.contains(&content) || !written.contains(&(path.clone(), content)) {
            continue;
        }
        // Looked at as if it had never been read: what stands there is stored again.
        known.fingerprint = Fingerprint::default();
        known.settled = false;
    }
    let kept = index.entries.values();
    needed.extend(
        kept.filter(|known| known.fingerprint != Fingerprint::default() || known.settled)
            .filter_map(|known| known.entry.content()),
    );
    // Names of files that are gone, and that nobody else ever changed.
    let named: HashSet<FilePath> = others()
        .flat_map(|(_, record)| &record.changes)
        .map(|change| change.path.clone())
        .collect();
    for at in &only_meant {
        records[*at].changes.retain(|change| {
            index.entries.contains_key(&change.path) || named.contains(&change.path)
        });
    }
    log::replace(&store, &records)?;
    let before = objects::sizes(&store)?;
    index.stored_bytes = objects::sweep(&store, &needed)?;
    forgotten.contents = before.keys().filter(|id| !needed.contains(id)).count();
    forgotten.bytes = before
        .values()
        .sum::<u64>()
        .saturating_sub(index.stored_bytes);
    if !is_new {
        // Where the index was behind the log, the next look brings it up to date.
        index.log_bytes = if is_current { log::size(&store) } else { 0 };
        store.replace_private(Path::new(crate::history::INDEX), &index.to_bytes())?;
    }
    Ok(forgotten)
}

fn meant(records: &[Record], is_meant: &dyn Fn(&TurnInfo) -> bool) -> Vec<TurnInfo> {
    let mut turns: Vec<TurnInfo> = Vec::new();
    for turn in records.iter().flat_map(|record| &record.turns) {
        if is_meant(turn) && !turns.iter().any(|known| known.number == turn.number) {
            turns.push(turn.clone());
        }
    }
    turns
}

fn contents(record: &Record) -> impl Iterator<Item = ContentId> {
    record
        .changes
        .iter()
        .flat_map(|change| [&change.before, &change.after])
        .flatten()
        .filter_map(Entry::content)
}
