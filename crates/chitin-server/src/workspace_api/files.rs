//! The files of a workspace: listed, read, written, previewed.

use super::{CutText, PromptBudget, PromptState};
use schemars::JsonSchema;
use serde::Serialize;

/// Which file is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRequest {
    /// The agent.
    pub agent: String,
    /// The path below the workspace.
    pub path: String,
}

/// A file as its author wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveFileRequest {
    /// The agent.
    pub agent: String,
    /// The path below the workspace.
    pub path: String,
    /// The new text.
    pub text: String,
    /// The version that its author read; none for a new file.
    pub version: Option<String>,
}

/// The files of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileList {
    /// The files: those of the prompt first, in their order.
    pub files: Vec<WorkspaceFile>,
    /// What files may take of the prompt, and what they take.
    pub budget: PromptBudget,
    /// Whether there are more files than are listed.
    pub truncated: bool,
}

/// A file in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFile {
    /// The path below the workspace.
    pub path: String,
    /// Whether it can be read.
    pub state: FileState,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its length in UTF-16 units; of files outside the prompt, in bytes.
    pub chars: u64,
    /// Its tokens, estimated; absent for files outside the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    /// What it is for.
    pub kind: FileKind,
    /// What budgets and rules made of it in the prompt; absent for files outside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_prompt: Option<PromptState>,
    /// Whether it can be written here.
    pub editable: bool,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether a file can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// It can.
    Present,
    /// It does not exist.
    Missing,
    /// It exists and is not read.
    Refused,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// The contract loads it.
    Bootstrap,
    /// It is memory.
    Memory,
    /// It belongs to a skill.
    Skill,
    /// Anything else.
    Other,
}

/// A file with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileText {
    /// The path below the workspace.
    pub path: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// The SHA-256 of its text, in hexadecimal.
    pub version: String,
    /// Its text.
    pub text: String,
    /// Whether it can be written here.
    pub editable: bool,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SavedFile {
    /// Its new version.
    pub version: String,
}

/// A file as it is, when it is not what its author read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CurrentFile {
    /// Its version; null if it was deleted.
    pub version: Option<String>,
    /// Its text; null if it was deleted.
    pub text: Option<String>,
}

/// What the next turn would hold if a file had another text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FilePreview {
    /// The file itself.
    pub file: PreviewFile,
    /// All files together.
    pub total: PreviewTotals,
    /// Other files of which the model would get more or less.
    pub effects: Vec<FileEffect>,
}

/// The file of a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewFile {
    /// Its length in UTF-16 units.
    pub raw_chars: usize,
    /// What the model would get of it.
    pub chars: usize,
    /// The tokens of that, estimated.
    pub tokens: usize,
    /// Its own tokens, estimated.
    pub raw_tokens: usize,
    /// The limit that holds for it; null if there is none.
    pub limit: Option<usize>,
    /// What budgets and rules would make of it.
    pub state: PromptState,
    /// What would be truncated, without its text.
    pub cut: Vec<CutText>,
    /// Why it would not be there whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// All files of a preview together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewTotals {
    /// What all files would take, in the unit of the budget.
    pub chars: usize,
    /// What they may take; null if there is no limit.
    pub limit: Option<usize>,
    /// The tokens of the system prompt, estimated.
    pub tokens: usize,
    /// The length of the system prompt.
    pub system_chars: usize,
    /// The same without the change.
    pub before: PromptSize,
}

/// The size of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptSize {
    /// What all files take.
    pub chars: usize,
    /// The tokens of the system prompt, estimated.
    pub tokens: usize,
    /// The length of the system prompt.
    pub system_chars: usize,
}

/// A file of which the model would get more or less.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileEffect {
    /// The path below the workspace.
    pub path: String,
    /// What the model gets of it now.
    pub before: usize,
    /// What it would get.
    pub after: usize,
    /// What budgets and rules would make of it.
    pub state: PromptState,
}
