//! What each turn changed.

use crate::entry::Change;
use crate::error::UndoError;
use crate::history::History;
use crate::log::{self, Record, TurnInfo, TurnKind};
use crate::path::FilePath;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What a turn, or an undo, changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnChanges {
    /// The turn.
    #[serde(flatten)]
    pub turn: TurnInfo,
    /// When its last change was recorded, in milliseconds since 1970.
    pub ended_ms: i64,
    /// Other turns that were writing at the same time: the changes may be theirs.
    pub together_with: Vec<u64>,
    /// The undo that took it back, if one did and was not taken back itself.
    pub undone_by: Option<u64>,
    /// What changed, by name; what was changed and changed back is not here.
    pub changes: Vec<Change>,
}

/// A turn as other values refer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnId {
    /// Its number.
    pub number: u64,
    /// Its session key.
    pub session: String,
    /// The beginning of its message.
    pub message: String,
    /// When it began to write, in milliseconds since 1970.
    pub began_ms: i64,
}

impl From<&TurnInfo> for TurnId {
    fn from(turn: &TurnInfo) -> Self {
        Self {
            number: turn.number,
            session: turn.session.clone(),
            message: turn.message.clone(),
            began_ms: turn.began_ms,
        }
    }
}

impl History {
    /// Returns how many records of the log are damaged. Nothing is written.
    pub fn damaged(&self) -> Result<usize, UndoError> {
        Ok(log::read(&self.reader()?)?.damaged)
    }

    /// Returns what turns changed, the oldest first. Nothing is written.
    pub fn turns(&self) -> Result<Vec<TurnChanges>, UndoError> {
        Ok(turns(&log::read(&self.reader()?)?.records))
    }
}

/// Puts the records of each turn together.
pub(crate) fn turns(records: &[Record]) -> Vec<TurnChanges> {
    struct Seen<'r> {
        info: &'r TurnInfo,
        ended_ms: i64,
        together: BTreeSet<u64>,
        changes: BTreeMap<&'r FilePath, Change>,
    }
    let mut seen: BTreeMap<u64, Seen<'_>> = BTreeMap::new();
    for record in records {
        for info in &record.turns {
            let turn = seen.entry(info.number).or_insert_with(|| Seen {
                info,
                ended_ms: record.at_ms,
                together: BTreeSet::new(),
                changes: BTreeMap::new(),
            });
            // The last word about a turn says whether it was interrupted.
            turn.info = info;
            turn.ended_ms = record.at_ms;
            let others = record.turns.iter().map(|other| other.number);
            turn.together
                .extend(others.filter(|other| *other != info.number));
            for change in &record.changes {
                let known = turn.changes.entry(&change.path).or_insert_with(|| Change {
                    after: None,
                    ..change.clone()
                });
                known.after.clone_from(&change.after);
            }
        }
    }
    let mut turns: Vec<TurnChanges> = seen
        .into_values()
        .map(|turn| TurnChanges {
            turn: turn.info.clone(),
            ended_ms: turn.ended_ms,
            together_with: turn.together.into_iter().collect(),
            undone_by: None,
            changes: turn
                .changes
                .into_values()
                .filter(|change| change.before != change.after)
                .collect(),
        })
        .collect();
    mark_undone(&mut turns);
    turns
}

/// Says which names of each turn were taken back, and by which undo. An undo that was taken back itself does not count.
pub(crate) fn undone(turns: &[TurnChanges]) -> HashMap<u64, HashMap<&FilePath, u64>> {
    let mut undone: HashMap<u64, HashMap<&FilePath, u64>> = HashMap::new();
    for undo in turns.iter().rev() {
        let TurnKind::Undo { turn: back_to } = undo.turn.kind else {
            continue;
        };
        let number = undo.turn.number;
        let taken_back = undone.get(&number).cloned().unwrap_or_default();
        let changes = undo.changes.iter().map(|one| &one.path);
        let paths: HashSet<&FilePath> = changes
            .filter(|path| !taken_back.contains_key(*path))
            .collect();
        for earlier in turns {
            let is_meant = (back_to..number).contains(&earlier.turn.number);
            for change in earlier.changes.iter().filter(|_| is_meant) {
                if paths.contains(&change.path) {
                    let known = undone.entry(earlier.turn.number).or_default();
                    known.entry(&change.path).or_insert(number);
                }
            }
        }
    }
    undone
}

/// Says of each turn that was taken back as a whole by which undo.
fn mark_undone(turns: &mut [TurnChanges]) {
    let whole: HashMap<u64, u64> = undone(turns)
        .into_iter()
        .filter_map(|(number, paths)| {
            let turn = turns.iter().find(|one| one.turn.number == number)?;
            (paths.len() == turn.changes.len())
                .then(|| paths.values().max().map(|undo| (number, *undo)))?
        })
        .collect();
    for turn in turns {
        turn.undone_by = whole.get(&turn.turn.number).copied();
    }
}
