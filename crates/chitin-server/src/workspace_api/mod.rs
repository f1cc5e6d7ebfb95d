//! The workspace API: what the page asks about files, prompts, skills, memory and traces, as types.
//!
//! The server knows sessions and messages. Workspaces are known to whoever makes agents, which implements [`WorkspaceApi`]. The types
//! here are what is sent: their fields are the API, and the OpenAPI document is made of them.

mod changes;
mod files;
mod lens;
mod memory;
mod skills;
mod traces;

pub use changes::{
    ChangeList, ChangeListRequest, ChangedFile, ChangedTurn, FileChangeKind, FileDiff, LeftAlone,
    TurnChangesRequest, TurnDiff, UndoMode, UndoReport,
};
pub use files::{
    CurrentFile, FileEffect, FileKind, FileList, FilePreview, FileRequest, FileState, FileText,
    PreviewFile, PreviewTotals, PromptSize, SaveFileRequest, SavedFile, WorkspaceFile,
};
pub use lens::{
    CutText, DiffLine, FirstDifference, HistoryState, Lens, LensBoundary, LensDiff, LensFile,
    LensFragment, LensHistory, LensPiece, LensRequest, LensSize, LensTool, LensTools, LensTotals,
    LensTurn, PieceKind, PreviewRequest, PromptBudget, PromptState,
};
pub use memory::{
    FoundMemory, MemoryIndex, MemoryIndexFigures, MemoryOverview, MemoryRecall, MemoryReply,
    MemoryRequest, MemoryResults,
};
pub use skills::{
    FindingCounts, FindingFix, FindingList, FindingPlace, FindingSeverity, SkillList, SkillSummary,
    WorkspaceFinding,
};
pub use traces::{RecordedSession, TraceList, TraceListRequest, TraceReply, TurnList, TurnSummary};

use chitin_gateway::HostError;

/// Answers questions about workspaces. Called where waiting for the disk is fine.
///
/// Implementers look at nothing but the agents that the server serves, and write only in [`WorkspaceApi::save_file`] and
/// [`WorkspaceApi::undo`].
pub trait WorkspaceApi: Send + Sync {
    /// Lists the recorded turns of a session, the newest first.
    fn turns(&self, agent: &str, session: &str) -> Result<TurnList, WorkspaceApiError>;

    /// Shows what the model got in a turn, or would get in the next one.
    fn lens(&self, request: LensRequest) -> Result<Lens, WorkspaceApiError>;

    /// Lists the files of a workspace.
    fn files(&self, agent: &str) -> Result<FileList, WorkspaceApiError>;

    /// Reads a file.
    fn file(&self, request: FileRequest) -> Result<FileText, WorkspaceApiError>;

    /// Writes a file, unless it changed since its author read it.
    fn save_file(&self, request: SaveFileRequest) -> Result<SavedFile, WorkspaceApiError>;

    /// Shows what the next turn would hold if a file had another text. Writes nothing.
    fn preview(&self, request: PreviewRequest) -> Result<FilePreview, WorkspaceApiError>;

    /// Lists the turns that changed the workspace, the newest first.
    fn changes(&self, request: ChangeListRequest) -> Result<ChangeList, WorkspaceApiError>;

    /// Shows the lines that a turn changed.
    fn turn_changes(&self, request: TurnChangesRequest) -> Result<TurnDiff, WorkspaceApiError>;

    /// Takes the workspace back to before a turn, or says what that would do.
    fn undo(
        &self,
        request: TurnChangesRequest,
        mode: UndoMode,
    ) -> Result<UndoReport, WorkspaceApiError>;

    /// Lists the skills of an agent.
    fn skills(&self, agent: &str) -> Result<SkillList, WorkspaceApiError>;

    /// Checks a workspace.
    fn findings(&self, agent: &str) -> Result<FindingList, WorkspaceApiError>;

    /// Describes an agent's memory, or searches it.
    fn memory(&self, request: MemoryRequest) -> Result<MemoryReply, WorkspaceApiError>;

    /// Lists the recorded sessions, the newest first.
    fn traces(&self, request: TraceListRequest) -> Result<TraceList, WorkspaceApiError>;

    /// Shows a recorded session, event by event.
    fn trace(&self, id: &str) -> Result<TraceReply, WorkspaceApiError>;
}

/// Why a question about a workspace has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct WorkspaceApiError {
    /// What kind of failure it is.
    pub kind: WorkspaceApiErrorKind,
    /// What happened, as a sentence.
    pub message: String,
    /// What can be done about it.
    pub hint: Option<String>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceApiErrorKind {
    /// What was asked for does not exist.
    Missing,
    /// The request is malformed.
    Bad,
    /// The request is not allowed.
    Refused,
    /// The file has another version than its author read.
    Conflict {
        /// The file as it is.
        current: CurrentFile,
    },
    /// The text is too long.
    TooLarge,
    /// The server was started without a workspace API.
    NotHere,
    /// Something went wrong.
    Failed,
}

impl WorkspaceApiError {
    /// Makes one.
    pub fn new(kind: WorkspaceApiErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// The server was started without a workspace API.
    pub(crate) fn not_here() -> Self {
        Self::new(
            WorkspaceApiErrorKind::NotHere,
            "This server does not provide that.",
        )
    }

    /// Adds what can be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<HostError> for WorkspaceApiError {
    fn from(error: HostError) -> Self {
        let kind = if error.bad_request {
            WorkspaceApiErrorKind::Bad
        } else {
            WorkspaceApiErrorKind::Failed
        };
        Self {
            hint: error.hint,
            ..Self::new(kind, error.message)
        }
    }
}
