//! The way back: for each name that a turn or a later one changed, the state before, unless somebody else changed it since.

use crate::entry::{Change, Entry};
use crate::index::Index;
use crate::log::Record;
use crate::path::FilePath;
use crate::undo::FailedChange;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What an undo would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The turn to whose beginning it leads.
    pub turn: u64,
    /// The turns that are taken back, in their order.
    pub turns: Vec<u64>,
    /// What becomes of each name: `before` is what stands there now, `after` what will.
    pub changes: Vec<Change>,
    /// What is left alone.
    pub conflicts: Vec<Conflict>,
    /// What cannot be changed, and why.
    pub failed: Vec<FailedChange>,
}

/// A name that is left alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The change that is not made.
    #[serde(flatten)]
    pub change: Change,
    /// Why.
    pub reason: ConflictReason,
}

/// Why a name is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConflictReason {
    /// Somebody else changed it since a turn did.
    ChangedSince,
    /// The content that it had before was not kept.
    NotKept,
    /// The content that it has now is not kept, so that overwriting it could not be taken back.
    WouldBeLost,
}

impl ConflictReason {
    /// Returns what it means, as the end of a sentence about a file.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::ChangedSince => "was changed by somebody else since",
            Self::NotKept => "had a content that was not kept",
            Self::WouldBeLost => "has a content that is not kept and would be lost",
        }
    }

    /// Tells whether force overcomes it.
    pub const fn yields(self) -> bool {
        match self {
            Self::ChangedSince | Self::WouldBeLost => true,
            Self::NotKept => false,
        }
    }
}

impl Plan {
    /// Tells whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.conflicts.is_empty()
    }

    /// Makes the plan that leads to the state before record `from`.
    pub(crate) fn back_to(
        records: &[Record],
        from: usize,
        number: u64,
        index: &Index,
        beneath: Option<&FilePath>,
    ) -> Self {
        let mut before: BTreeMap<&FilePath, (Option<&Entry>, bool)> = BTreeMap::new();
        let mut turns = BTreeSet::new();
        let mut changed_since: HashSet<&FilePath> = HashSet::new();
        let mut gap = false;
        for record in records[from..].iter().rev() {
            gap |= record.gap;
            for change in &record.changes {
                if record.turns.is_empty() {
                    changed_since.insert(&change.path);
                } else {
                    let known = before.entry(&change.path).or_insert((None, false));
                    known.0 = change.before.as_ref();
                    known.1 |= gap || changed_since.contains(&change.path);
                }
            }
        }
        let is_wanted = |path: &FilePath| {
            beneath.is_none_or(|beneath| path.is_in(beneath) || is_needed(path, beneath, &before))
        };
        let mut plan = Self {
            turn: number,
            ..Self::default()
        };
        let mut touched = HashSet::new();
        for (path, (target, is_changed_since)) in &before {
            let now = index.entries.get(*path).map(|known| &known.entry);
            if now == *target || !is_wanted(path) {
                continue;
            }
            touched.insert(*path);
            let change = Change {
                path: (*path).clone(),
                before: now.cloned(),
                after: target.cloned(),
            };
            let is_uncovered =
                |entry: Option<&Entry>| matches!(entry, Some(Entry::Uncovered { .. }));
            let reason = if is_uncovered(*target) {
                Some(ConflictReason::NotKept)
            } else if *is_changed_since {
                Some(ConflictReason::ChangedSince)
            } else if is_uncovered(now) {
                Some(ConflictReason::WouldBeLost)
            } else {
                None
            };
            match reason {
                Some(reason) => plan.conflicts.push(Conflict { change, reason }),
                None => plan.changes.push(change),
            }
        }
        for record in &records[from..] {
            if record
                .changes
                .iter()
                .any(|change| touched.contains(&change.path))
            {
                turns.extend(record.turns.iter().map(|turn| turn.number));
            }
        }
        plan.turns = turns.into_iter().collect();
        plan
    }

    /// Takes conflicts that yield to force for changes.
    #[must_use]
    pub(crate) fn forced(mut self) -> Self {
        let (forced, left) = self
            .conflicts
            .into_iter()
            .partition(|one| one.reason.yields());
        self.conflicts = left;
        let forced: Vec<Conflict> = forced;
        self.changes
            .extend(forced.into_iter().map(|one| one.change));
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
        self
    }
}

/// Tells whether a path is a directory that has to be there again for what lies beneath.
fn is_needed(
    path: &FilePath,
    beneath: &FilePath,
    before: &BTreeMap<&FilePath, (Option<&Entry>, bool)>,
) -> bool {
    beneath.is_in(path)
        && before
            .get(path)
            .is_some_and(|(entry, _)| entry.is_some_and(Entry::is_directory))
}
