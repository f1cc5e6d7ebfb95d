//! Carrying a plan out: all of it or nothing (rules P41, P42).

use super::compare::{ExistingEntry, compare};
use super::contents::Contents;
use super::in_place;
use super::plan::{PlannedFile, UnpackPlan};
use super::write::{copy, each_file, unwritten};
use crate::compat::NOT_ATOMIC;
use crate::error::{ErrorClass, PackError};
use crate::warning::PackWarning;
use chitin_guard::{Fingerprint, NewMode, StageError, TargetDirectory, WriteError};
use std::collections::HashMap;
use std::path::Path;

/// With more other files than this in the target, a second name for each would take longer than it is worth.
const MAX_OTHER_ENTRIES: usize = 50_000;

/// How a plan is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplyOptions {
    /// What becomes of files with other bytes.
    pub overwrite: Overwrite,
}

/// What becomes of existing files with other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overwrite {
    /// They are conflicts, and nothing is written.
    Refuse,
    /// They are replaced.
    Allow,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnpackOutcome {
    /// Files that were written, in the order of the plan.
    pub written: Vec<String>,
    /// Files that were there already.
    pub unchanged: Vec<String>,
    /// How it was done.
    pub how: How,
    /// What the user should know, beyond the plan's own warnings.
    pub warnings: Vec<PackWarning>,
}

/// How a plan was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Everything was there already.
    Nothing,
    /// In one step. The directory is another one now under the same name: who stands in it must enter it again.
    Exchanged,
    /// File by file, in the same directory.
    InPlace,
}

/// The files that are to be written, and what stands in their place.
pub(super) type Changes<'p> = HashMap<&'p str, ExistingEntry>;

/// Carries a plan out at `target`. Other files there are kept. When this fails, nothing was changed; when this process is
/// killed, the target is wholly old or wholly new, unless a warning of an earlier run said that this cannot be had there.
pub fn apply<'a>(
    plan: &UnpackPlan,
    contents: impl Into<Contents<'a>>,
    target: &Path,
    options: ApplyOptions,
) -> Result<UnpackOutcome, PackError> {
    let contents = contents.into();
    let place = TargetDirectory::find(target).map_err(refused)?;
    place.clear_leftovers();
    let standing = compare(plan, place.existing())?;
    let conflicts: Vec<String> = plan
        .files
        .iter()
        .zip(&standing)
        .filter(|(_, standing)| matches!(standing, ExistingEntry::Other(_)))
        .map(|(file, _)| file.path.clone())
        .collect();
    if options.overwrite == Overwrite::Refuse && !conflicts.is_empty() {
        return Err(PackError::new(
            ErrorClass::Conflict,
            "files with other content already exist",
        )
        .about(conflicts)
        .hint("nothing was written; allow overwriting, or choose another directory"));
    }
    let mut applied = UnpackOutcome {
        written: Vec::new(),
        unchanged: Vec::new(),
        how: How::Nothing,
        warnings: Vec::new(),
    };
    let mut changes = Changes::new();
    for (file, standing) in plan.files.iter().zip(standing) {
        match standing {
            ExistingEntry::Same => applied.unchanged.push(file.path.clone()),
            ExistingEntry::Absent | ExistingEntry::Other(_) => {
                applied.written.push(file.path.clone());
                changes.insert(&file.path, standing);
            }
        }
    }
    if changes.is_empty() {
        return Ok(applied);
    }
    match staged(plan, contents, &place, &changes) {
        Ok(()) => applied.how = How::Exchanged,
        Err(Failure::Pack(error)) => return Err(error),
        Err(Failure::NotPossible(reason)) => {
            in_place::write(plan, contents, &place, &changes)?;
            applied.how = How::InPlace;
            let message = format!(
                "the directory could not be replaced in one step, because {reason}; an interruption could have left a mix of old and new files"
            );
            applied.warnings.push(PackWarning::new(NOT_ATOMIC, message));
        }
    }
    Ok(applied)
}

/// Removes what a killed process left beside a directory that it was replacing. Until then files in the directory may have
/// a second name there, which some contracts refuse to read; so whoever opens a workspace may want to call this first.
/// [`apply`] does.
pub fn clear_leftovers(target: &Path) {
    if let Ok(place) = TargetDirectory::find(target) {
        place.clear_leftovers();
    }
}

enum Failure {
    Pack(PackError),
    NotPossible(&'static str),
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        Self::Pack(error)
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        match error {
            StageError::NotPossible { reason } => Self::NotPossible(reason),
            StageError::Write(error) => Self::Pack(refused(error)),
        }
    }
}

/// Builds the whole new tree beside the old one and exchanges them.
fn staged(
    plan: &UnpackPlan,
    contents: Contents<'_>,
    place: &TargetDirectory,
    changes: &Changes<'_>,
) -> Result<(), Failure> {
    // Only the very files that were compared: whatever came since is not ours to replace.
    let is_replaced = |path: &Path, now: &Fingerprint| {
        let standing = path.to_str().and_then(|path| changes.get(path));
        matches!(standing, Some(ExistingEntry::Other(found)) if found.is_still(now))
    };
    let mut staging = place.stage(MAX_OTHER_ENTRIES, &is_replaced)?;
    for directory in directories(changes) {
        staging.directory(Path::new(directory)).map_err(refused)?;
    }
    each_file(plan, contents, |file, content| {
        let Some(standing) = changes.get(file.path.as_str()) else {
            return Ok(());
        };
        let mode = new_mode(file, *standing);
        let mut out = staging.file(Path::new(&file.path), mode).map_err(refused)?;
        copy(file, content, &mut out)?;
        out.sync().map_err(|error| unwritten(&file.path, error))
    })?;
    Ok(staging.commit()?)
}

/// The directories that the changed files need and that are not known to be there, parents first.
pub(super) fn directories<'p>(changes: &Changes<'p>) -> std::collections::BTreeSet<&'p str> {
    changes
        .iter()
        .filter(|(_, standing)| **standing == ExistingEntry::Absent)
        .flat_map(|(path, _)| {
            let path: &'p str = path;
            path.match_indices('/').map(move |(end, _)| &path[..end])
        })
        .collect()
}

/// Permission bits: those of the file that is replaced, or the usual ones.
fn new_mode(file: &PlannedFile, standing: ExistingEntry) -> NewMode {
    match standing {
        ExistingEntry::Other(found) => NewMode::Exactly(found.replaced_mode(file.executable)),
        ExistingEntry::Absent | ExistingEntry::Same => NewMode::Usual(usual_mode(file)),
    }
}

pub(super) const fn usual_mode(file: &PlannedFile) -> u32 {
    if file.executable { 0o755 } else { 0o644 }
}

/// Says why the guard let nothing be written.
pub(super) fn refused(error: WriteError) -> PackError {
    let shown = error.path().display().to_string();
    let (class, message) = match &error {
        WriteError::NotBeneath { .. } => (
            ErrorClass::UnsafeTarget,
            format!("`{shown}` is not a writable directory, or there is a link on its path"),
        ),
        WriteError::Changed { .. } => (
            ErrorClass::Conflict,
            format!("another program changed `{shown}` meanwhile; nothing was written"),
        ),
        WriteError::Io { .. } => (ErrorClass::Io, format!("`{shown}` cannot be written")),
    };
    let hint = match class {
        ErrorClass::Conflict => "try again",
        ErrorClass::UnsafeTarget => "choose another directory",
        _ => "nothing was written; look at the directory's permissions and the room on the disk",
    };
    PackError::new(class, message).caused_by(error).hint(hint)
}
