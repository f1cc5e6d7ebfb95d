//! The skills of an agent, and the findings in its workspace.

use chitin_contract::SkillSource;
use schemars::JsonSchema;
use serde::Serialize;

/// The skills of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillList {
    /// The skills.
    pub skills: Vec<SkillSummary>,
}

/// A skill in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillSummary {
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// Where it comes from.
    pub source: SkillSource,
    /// Its `SKILL.md`: below the workspace, or absolute.
    pub path: String,
    /// Whether it can be used.
    pub eligible: bool,
    /// Why it cannot.
    pub why: Vec<String>,
    /// Whether the model sees it.
    pub in_prompt: bool,
}

/// What is wrong with a workspace: what `chitin check --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingList {
    /// The findings.
    pub findings: Vec<WorkspaceFinding>,
    /// How many of each kind.
    pub summary: FindingCounts,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkspaceFinding {
    /// The stable code, such as `CH601`.
    pub code: String,
    /// How bad it is.
    pub severity: FindingSeverity,
    /// The file below the workspace; `.` is the workspace.
    pub path: String,
    /// Where in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<FindingPlace>,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// The change that `chitin check --fix` makes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<FindingFix>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Something is broken or dangerous.
    Error,
    /// Something is probably a mistake.
    Warning,
    /// Something to know.
    Info,
}

/// Where in a file. Lines and columns count from 1, columns in characters; `start` and `end` are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingPlace {
    /// The line of the first byte.
    pub line: usize,
    /// The column of the first byte.
    pub column: usize,
    /// The line just after the last byte.
    pub end_line: usize,
    /// The column just after the last byte.
    pub end_column: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A change that `chitin check --fix` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum FindingFix {
    /// Removes the byte order mark.
    StripByteOrderMark,
    /// Removes permission bits.
    RemovePermissions {
        /// The bits.
        bits: u32,
    },
}

/// How many findings there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingCounts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Things to know.
    pub infos: usize,
    /// Findings that a comment in the file allows.
    pub suppressed: usize,
    /// The texts that were checked.
    pub files: usize,
    /// Their length together, in bytes.
    pub bytes: u64,
}
