//! Taking back what turns changed.

use crate::changes;
use crate::entry::{Change, Entry};
use crate::error::UndoError;
use crate::history::{History, MISSED, Open};
use crate::journal::Journal;
use crate::log::{self, Record, TurnInfo, TurnKind};
use crate::path::FilePath;
use crate::plan::{Conflict, Plan};
use crate::prune;
use crate::restore::Outcome;
use chitin_guard::{DirectoryEntry, LinkPolicy};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Why a directory stays.
const NOT_EMPTY: &str = "the directory is not empty";
/// More entries of a directory are not looked at; one of so many is hardly empty afterwards.
const MOST_LISTED: usize = 100_000;

/// What is to be taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoRequest {
    /// The turn to whose beginning the files go back; left out, the last one that is not undone.
    pub turn: Option<u64>,
    /// Only this file, or what is in this directory.
    pub path: Option<FilePath>,
}

/// Whether files that somebody else changed since are taken back too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// They are left alone.
    No,
    /// They are taken back; what they hold now is kept by the undo's own record.
    Yes,
}

/// What an undo did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Undone {
    /// Its own number, under which it can be taken back; nothing if nothing was changed.
    pub number: Option<u64>,
    /// The turn to whose beginning the files went back.
    pub turn: u64,
    /// The turns that were taken back.
    pub turns: Vec<u64>,
    /// What was changed: `before` is what stood there.
    pub changes: Vec<Change>,
    /// What was left alone.
    pub conflicts: Vec<Conflict>,
    /// What could not be changed, and why.
    pub failed: Vec<FailedChange>,
}

/// A change that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedChange {
    /// The name.
    pub path: FilePath,
    /// Why.
    pub reason: String,
}

impl History {
    /// Says what an undo would do. It records the workspace as it is, and changes nothing in it.
    pub fn plan(
        &self,
        request: &UndoRequest,
        force: Force,
        now_ms: i64,
    ) -> Result<Plan, UndoError> {
        if !self.is_recorded() {
            return Err(UndoError::NothingRecorded);
        }
        let mut open = self.open(now_ms)?;
        planned(&mut open, request, force, now_ms)
    }

    /// Takes changes back.
    pub fn undo(
        &self,
        request: &UndoRequest,
        force: Force,
        now_ms: i64,
    ) -> Result<Undone, UndoError> {
        if !self.is_recorded() {
            return Err(UndoError::NothingRecorded);
        }
        let mut open = self.open(now_ms)?;
        let plan = planned(&mut open, request, force, now_ms)?;
        let mut undone = Undone {
            number: None,
            turn: plan.turn,
            turns: plan.turns,
            changes: Vec::new(),
            conflicts: plan.conflicts,
            failed: plan.failed,
        };
        if plan.changes.is_empty() {
            return Ok(undone);
        }
        let number = open.running.next_number(open.index.next_turn);
        let info = TurnInfo {
            number,
            began_ms: now_ms,
            kind: TurnKind::Undo { turn: plan.turn },
            ..TurnInfo::new("", "", "")
        };
        let journal = Journal::new(&open, info, plan.changes);
        journal.write(&open)?;
        let outcomes = journal.carry_out(&mut open, now_ms)?;
        let mut failed = BTreeSet::new();
        for (path, outcome) in outcomes {
            let reason = match outcome {
                Outcome::Done => continue,
                Outcome::Changed => "it changed in the meantime".to_owned(),
                Outcome::NotEmpty => NOT_EMPTY.to_owned(),
                Outcome::Failed(error) => error.to_string(),
            };
            if failed.insert(path.clone()) {
                undone.failed.push(FailedChange { path, reason });
            }
        }
        let made = journal.changes.into_iter();
        undone.changes = made
            .filter(|change| !failed.contains(&change.path))
            .collect();
        undone.number = (!undone.changes.is_empty()).then_some(number);
        prune::when_due(&mut open, now_ms)?;
        Ok(undone)
    }
}

/// Makes the plan, as far as it can be carried out.
fn planned(
    open: &mut Open<'_>,
    request: &UndoRequest,
    force: Force,
    now_ms: i64,
) -> Result<Plan, UndoError> {
    let mut plan = chosen(open, request, now_ms)?;
    if force == Force::Yes {
        plan = plan.forced();
    }
    keep_full_directories(open, &mut plan);
    Ok(plan)
}

/// Leaves directories out that will not be empty, because something is in them that stays.
fn keep_full_directories(open: &Open<'_>, plan: &mut Plan) {
    let goes = |change: &&Change| change.after.is_none();
    let mut going: BTreeSet<FilePath> = plan
        .changes
        .iter()
        .filter(goes)
        .map(|change| change.path.clone())
        .collect();
    let is_directory = |change: &&Change| change.before.as_ref().is_some_and(Entry::is_directory);
    let directories = plan.changes.iter().filter(goes).filter(is_directory);
    let mut directories: Vec<FilePath> = directories.map(|change| change.path.clone()).collect();
    // What is in one comes behind it.
    directories.sort();
    for directory in directories.into_iter().rev() {
        let listed = open
            .workspace
            .list(directory.as_path(), &LinkPolicy::Refuse, MOST_LISTED);
        let stays = |entry: &DirectoryEntry| {
            let path = directory.as_path().join(&entry.name);
            FilePath::of(&path).is_none_or(|path| !going.contains(&path))
        };
        if listed.is_ok_and(|entries| entries.iter().any(stays)) {
            going.remove(&directory);
            plan.changes.retain(|change| change.path != directory);
            plan.failed.push(FailedChange {
                path: directory,
                reason: NOT_EMPTY.to_owned(),
            });
        }
    }
    plan.failed.sort_by(|a, b| a.path.cmp(&b.path));
}

fn chosen(open: &mut Open<'_>, request: &UndoRequest, now_ms: i64) -> Result<Plan, UndoError> {
    if let Some(running) = open.running.alive.first() {
        return Err(UndoError::Running {
            number: running.number,
            session: running.session.clone(),
            message: running.message.clone(),
        });
    }
    open.advance(now_ms)?;
    let log = log::read(&open.store)?;
    let lacks_end = log.lacks_end(open.index.sequence);
    if lacks_end && (request.turn.is_none() || log.records.is_empty()) {
        return Err(UndoError::DamagedLog);
    }
    if request.turn.is_none() && open.store.kind(Path::new(MISSED)).is_some() {
        return Err(UndoError::NotRecorded);
    }
    let mut records = log.records;
    if lacks_end {
        records.push(Record {
            gap: true,
            ..Record::default()
        });
    }
    let plan =
        |number, from| Plan::back_to(&records, from, number, &open.index, request.path.as_ref());
    if let Some(number) = request.turn {
        let from = first_of(&records, number).ok_or(UndoError::NoSuchTurn { number })?;
        return Some(plan(number, from))
            .filter(|plan| !plan.is_empty())
            .ok_or(UndoError::NothingToUndo);
    }
    let turns = changes::turns(&records);
    let undone = changes::undone(&turns);
    let mut in_force = turns.iter().rev().filter(|turn| !turn.turn.is_undo());
    in_force
        .find_map(|turn| {
            let number = turn.turn.number;
            let taken_back = undone.get(&number);
            let is_left = |path: &FilePath| {
                turn.changes.iter().any(|change| change.path == *path)
                    && taken_back.is_none_or(|taken_back| !taken_back.contains_key(path))
            };
            let plan = plan(number, first_of(&records, number)?);
            let conflicts = plan.conflicts.iter().map(|one| &one.change);
            let mut touched = plan.changes.iter().chain(conflicts);
            touched.any(|change| is_left(&change.path)).then_some(plan)
        })
        .ok_or(UndoError::NothingToUndo)
}

/// Returns the first record of a turn.
fn first_of(records: &[Record], number: u64) -> Option<usize> {
    records.iter().position(|record| record.is_of(number))
}
