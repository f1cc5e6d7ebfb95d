//! What was forgotten, and what is left and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was forgotten, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgetReport {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The sessions.
    pub sessions: Vec<ForgottenSession>,
    /// What the recordings had of them.
    pub recordings: RemovedRecordings,
    /// What the record of changes had of their turns.
    pub turns: RemovedTurns,
    /// What the job log had of them.
    pub jobs: RemovedJobs,
    /// How many pieces the memory indexes had of them.
    pub memory_pieces: usize,
    /// How many memory indexes were thrown away because they could not be cleaned. They are made again when they are needed.
    pub memory_indexes_discarded: usize,
    /// How many lines the terminal remembered.
    pub typed_lines: usize,
    /// What was searched afterwards; absent where nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searched: Option<Searched>,
    /// Where something of them was found afterwards.
    pub left: Vec<LeftTrace>,
    /// What lies elsewhere and is not touched.
    pub notes: Vec<String>,
}

/// A session that was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForgottenSession {
    /// Its key.
    pub key: String,
    /// The session that began it, which is forgotten too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_by: Option<String>,
    /// How many transcripts it had, those in the archive included.
    pub transcripts: usize,
    /// How many files.
    pub files: usize,
    /// How many bytes these had.
    pub bytes: u64,
}

/// What recordings had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedRecordings {
    /// How many files went.
    pub files: usize,
    /// How many lines of logs went.
    pub lines: usize,
}

/// What the record of changes had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedTurns {
    /// How many turns.
    pub turns: usize,
    /// How many contents of files that nothing else needs.
    pub contents: usize,
    /// How many bytes these took.
    pub bytes: u64,
}

/// What the job log had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedJobs {
    /// How many outcomes of messages.
    pub outcomes: usize,
    /// How many messages that were not answered.
    pub open: usize,
    /// How many damaged logs that were kept.
    pub damaged_logs: usize,
    /// The names of the messages whose outcomes went.
    #[serde(skip)]
    pub names: Vec<String>,
}

/// What was searched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Searched {
    /// How many files.
    pub files: u64,
    /// How many bytes, as they are when they are unpacked.
    pub bytes: u64,
    /// For how many ids and passages.
    pub words: usize,
}

/// A file in which something of a forgotten session was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftTrace {
    /// The file.
    pub path: String,
    /// Whether the id of a session stands there; otherwise words of it do.
    pub is_id: bool,
    /// What keeps it.
    pub kept_by: KeptPlace,
}

/// What keeps something of a forgotten session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeptPlace {
    /// Another session: it may quote a reply or a task, or say the same.
    Session,
    /// A job of another session.
    Job,
    /// The record of changes: a file of the workspace, or what another turn needs.
    Changes,
    /// A recording of another session.
    Recording,
    /// The index of the workspace's notes.
    Memory,
    /// A packed artifact.
    Artifact,
    /// A backup.
    Backup,
    /// A plugin.
    Plugin,
    /// A cron job.
    Schedule,
    /// An exported recording.
    Export,
    /// Something else.
    Other,
}

impl KeptPlace {
    /// Returns what it is, as a part of a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Session => "another session, which may quote it or say the same",
            Self::Job => "a job of another session",
            Self::Changes => {
                "a file of the workspace, or what `chitin undo` needs for another turn"
            }
            Self::Recording => "a recording of another session",
            Self::Memory => "the index of the workspace's notes",
            Self::Artifact => "a packed artifact",
            Self::Backup => "a backup",
            Self::Plugin => "a plugin",
            Self::Schedule => "a cron job",
            Self::Export => "a recording that was exported",
            Self::Other => "another file",
        }
    }
}
