//! What turns changed, and taking it back: what `chitin changes` and `chitin undo` do.

use crate::display::sentence;
use crate::{AgentFactory, Host};
use chitin_server::workspace_api::{
    ChangeList, ChangedFile, ChangedTurn, DiffLine, FileChangeKind, FileDiff, LeftAlone, TurnDiff,
    UndoMode, UndoReport, WorkspaceApiError, WorkspaceApiErrorKind,
};
use chitin_undo::{
    Change, Conflict, DifferenceLine, Entry, FailedChange, Force, History, TurnChanges, TurnKind,
    UndoError, UndoRequest,
};

/// How many files of a turn are counted line by line.
const MAX_COUNTED: usize = 200;
/// How many files of a turn are shown with their lines.
const MAX_SHOWN: usize = 100;

fn history(host: &Host, factory: &AgentFactory) -> Result<History, WorkspaceApiError> {
    let history = factory.setup.history(host).ok_or_else(|| {
        let message = "Could not determine where changes are recorded.";
        WorkspaceApiError::new(WorkspaceApiErrorKind::Failed, message)
    })?;
    if history.is_recorded() {
        history.settle(Host::now_ms()).map_err(failed)?;
    }
    Ok(history)
}

/// Lists the turns that changed something, the newest first.
pub(super) fn list(
    host: &Host,
    factory: &AgentFactory,
    limit: usize,
) -> Result<ChangeList, WorkspaceApiError> {
    let history = history(host, factory)?;
    let turns = match history.turns() {
        Err(UndoError::NothingRecorded) => Vec::new(),
        turns => turns.map_err(failed)?,
    };
    let older = turns.len().saturating_sub(limit);
    let listed = turns[older..].iter().rev();
    let listed = listed.map(|turn| changed_turn(&history, turn));
    Ok(ChangeList {
        turns: listed.collect::<Result<_, _>>()?,
        older,
    })
}

/// Shows the lines that a turn changed.
pub(super) fn show(
    host: &Host,
    factory: &AgentFactory,
    number: u64,
) -> Result<TurnDiff, WorkspaceApiError> {
    let history = history(host, factory)?;
    let turns = history.turns().map_err(failed)?;
    let turn = turns.iter().find(|one| one.turn.number == number);
    let turn = turn.ok_or_else(|| failed(UndoError::NoSuchTurn { number }))?;
    let files = turn.changes.iter().take(MAX_SHOWN).map(|change| {
        let difference = history.difference(change).map_err(failed)?;
        let mut diff = Vec::new();
        let mut shown = 0;
        for line in difference.lines {
            diff.push(match line {
                DifferenceLine::Place { before, .. } => {
                    let lines = before.saturating_sub(1).saturating_sub(shown);
                    shown = before.saturating_sub(1);
                    if lines == 0 {
                        continue;
                    }
                    DiffLine::Skip { lines }
                }
                DifferenceLine::Same { text } => {
                    shown += 1;
                    DiffLine::Same { text }
                }
                DifferenceLine::Added { text } => DiffLine::Add { text },
                DifferenceLine::Removed { text } => {
                    shown += 1;
                    DiffLine::Remove { text }
                }
                DifferenceLine::NoNewline => continue,
            });
        }
        Ok(FileDiff {
            path: change.path.to_string(),
            diff,
            shortened: difference.is_shortened,
        })
    });
    Ok(TurnDiff {
        files: files.collect::<Result<_, WorkspaceApiError>>()?,
        turn: changed_turn(&history, turn)?,
    })
}

/// Takes the workspace back to before a turn, or says what that would do.
pub(super) fn undo(
    host: &Host,
    factory: &AgentFactory,
    turn: u64,
    mode: UndoMode,
) -> Result<UndoReport, WorkspaceApiError> {
    let history = history(host, factory)?;
    let request = UndoRequest {
        turn: Some(turn),
        path: None,
    };
    let now_ms = Host::now_ms();
    let force = match mode {
        UndoMode::Preview => {
            let plan = history.plan(&request, Force::No, now_ms);
            let plan = plan.map_err(failed)?;
            let conflicts = plan.conflicts.iter().map(left_alone);
            return Ok(UndoReport {
                number: None,
                turns: plan.turns,
                restored: plan.changes.iter().map(path).collect(),
                left_alone: conflicts
                    .chain(plan.failed.into_iter().map(not_done))
                    .collect(),
            });
        }
        UndoMode::Careful => Force::No,
        UndoMode::Forced => Force::Yes,
    };
    let undone = history.undo(&request, force, now_ms).map_err(failed)?;
    let conflicts = undone.conflicts.iter().map(left_alone);
    let failures = undone.failed.into_iter().map(not_done);
    Ok(UndoReport {
        number: undone.number,
        turns: undone.turns,
        restored: undone.changes.iter().map(path).collect(),
        left_alone: conflicts.chain(failures).collect(),
    })
}

fn path(change: &Change) -> String {
    change.path.to_string()
}

fn not_done(failed: FailedChange) -> LeftAlone {
    LeftAlone {
        path: failed.path.to_string(),
        reason: failed.reason,
        can_be_forced: false,
    }
}

fn left_alone(conflict: &Conflict) -> LeftAlone {
    LeftAlone {
        path: path(&conflict.change),
        reason: conflict.reason.meaning().to_owned(),
        can_be_forced: conflict.reason.yields(),
    }
}

fn changed_turn(history: &History, turn: &TurnChanges) -> Result<ChangedTurn, WorkspaceApiError> {
    let files = turn.changes.iter().enumerate().map(|(at, change)| {
        let count = if at < MAX_COUNTED {
            history.count(change).map_err(failed)?
        } else {
            None
        };
        Ok(ChangedFile {
            path: path(change),
            kind: kind(change),
            added: count.map(|count| count.added),
            removed: count.map(|count| count.removed),
        })
    });
    let undo_of = match turn.turn.kind {
        TurnKind::Turn => None,
        TurnKind::Undo { turn } => Some(turn),
    };
    Ok(ChangedTurn {
        number: turn.turn.number,
        session: turn.turn.session.clone(),
        message: turn.turn.message.clone(),
        began_ms: turn.turn.began_ms,
        undo_of,
        undone_by: turn.undone_by,
        interrupted: turn.turn.interrupted,
        together_with: turn.together_with.clone(),
        files: files.collect::<Result<_, WorkspaceApiError>>()?,
    })
}

fn kind(change: &Change) -> FileChangeKind {
    match (&change.before, &change.after) {
        (None, _) => FileChangeKind::Added,
        (_, None) => FileChangeKind::Removed,
        (Some(before), Some(after))
            if before.is_directory() && after.is_directory()
                || before.content().is_some() && before.content() == after.content() =>
        {
            FileChangeKind::Mode
        }
        (
            Some(
                Entry::File { .. }
                | Entry::Directory { .. }
                | Entry::Link { .. }
                | Entry::Uncovered { .. },
            ),
            Some(_),
        ) => FileChangeKind::Changed,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn failed(error: UndoError) -> WorkspaceApiError {
    let kind = match &error {
        UndoError::NothingRecorded
        | UndoError::NotRecorded
        | UndoError::NothingToUndo
        | UndoError::NoSuchTurn { .. } => WorkspaceApiErrorKind::Missing,
        UndoError::Running { .. } => WorkspaceApiErrorKind::Refused,
        UndoError::Read(_)
        | UndoError::Write(_)
        | UndoError::Io { .. }
        | UndoError::TooMany { .. }
        | UndoError::Damaged { .. }
        | UndoError::DamagedLog
        | UndoError::LogTooLarge { .. }
        | UndoError::NoSuchLine { .. }
        | UndoError::NotText { .. } => WorkspaceApiErrorKind::Failed,
    };
    let is_running = kind == WorkspaceApiErrorKind::Refused;
    let failed = WorkspaceApiError::new(kind, sentence(&error.to_string()));
    if is_running {
        return failed.hint("wait until it is over, or stop it");
    }
    failed
}
