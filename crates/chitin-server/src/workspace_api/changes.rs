//! What turns changed in a workspace, and taking it back.

use super::DiffLine;
use schemars::JsonSchema;
use serde::Serialize;

/// The turns that changed something, the newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeList {
    /// The turns.
    pub turns: Vec<ChangedTurn>,
    /// How many older turns there are.
    pub older: usize,
}

/// A turn, or an undo, that changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedTurn {
    /// Its number.
    pub number: u64,
    /// Its session key; empty for an undo.
    pub session: String,
    /// The beginning of its message.
    pub message: String,
    /// When it began to write, in milliseconds since 1970.
    pub began_ms: i64,
    /// For an undo, the turn to whose beginning it led.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_of: Option<u64>,
    /// The undo that took it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<u64>,
    /// Whether the process ended before the turn did.
    pub interrupted: bool,
    /// Other turns that were writing at the same time.
    pub together_with: Vec<u64>,
    /// The files.
    pub files: Vec<ChangedFile>,
}

/// A file that a turn changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its path below the workspace.
    pub path: String,
    /// What became of it.
    pub kind: FileChangeKind,
    /// How many lines came; nothing if it is not compared line by line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// How many lines went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another content.
    Changed,
    /// It has other permissions.
    Mode,
}

/// A turn with the lines that it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnDiff {
    /// The turn.
    pub turn: ChangedTurn,
    /// The difference of each of its files.
    pub files: Vec<FileDiff>,
}

/// The lines that a turn changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileDiff {
    /// The path of the file below the workspace.
    pub path: String,
    /// The lines; none if it is not compared line by line.
    pub diff: Vec<DiffLine>,
    /// Whether there are more lines.
    pub shortened: bool,
}

/// What an undo would do, or did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoReport {
    /// The number of the undo, under which it can be taken back; nothing if nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The turns that are taken back.
    pub turns: Vec<u64>,
    /// The files that are restored.
    pub restored: Vec<String>,
    /// What is left alone, or failed, and why.
    pub left_alone: Vec<LeftAlone>,
}

/// A file that an undo leaves alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftAlone {
    /// Its path below the workspace.
    pub path: String,
    /// Why, as the end of a sentence.
    pub reason: String,
    /// Whether it is taken back if that is asked for.
    pub can_be_forced: bool,
}

/// Which turns are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeListRequest {
    /// The agent.
    pub agent: String,
    /// How many turns at most.
    pub limit: usize,
}

/// Which turn is asked for, or is to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnChangesRequest {
    /// The agent.
    pub agent: String,
    /// The number of the turn.
    pub turn: u64,
}

/// Whether files that were changed since are taken back too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoMode {
    /// Nothing is changed: what would be done is reported.
    Preview,
    /// They are left alone.
    Careful,
    /// They are taken back.
    Forced,
}
