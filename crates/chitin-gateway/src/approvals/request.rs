//! A question for permission, its answer, and what became of it.

use chitin_tools::Approval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question for permission that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// The session.
    pub session_key: String,
    /// The job whose turn waits.
    pub job_id: String,
    /// The tool.
    pub tool: String,
    /// What is to be done, in one line: a command, or which files change.
    pub what: String,
    /// Why it is asked, and what the command does.
    pub why: String,
    /// What would change, where it is a change of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether the diff is longer than this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub diff_truncated: bool,
    /// What `session` and `always` allow; without it, only `once` and `no` can be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Whether the pattern stands for exactly this and nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: i64,
    /// When it becomes a refusal, in milliseconds since 1970.
    pub expires_at: i64,
}

/// An answer of the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalAnswer {
    /// This once.
    Once,
    /// For the rest of the session.
    Session,
    /// Always, for what the pattern covers.
    Always,
    /// No.
    No,
}

/// What became of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalOutcome {
    /// Allowed once.
    Once,
    /// Allowed for the session.
    Session,
    /// Allowed always.
    Always,
    /// Denied.
    No,
    /// Nobody answered in time; it was refused.
    Expired,
    /// Its turn ended before an answer came.
    Withdrawn,
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AnsweredBy {
    /// The web page.
    Page,
    /// A program with the server's token, such as `chitin approvals`.
    Token,
}

/// A question that needs no answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedApproval {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub outcome: ApprovalOutcome,
    /// The reason that was given for a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where the answer came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy>,
    /// When, in milliseconds since 1970.
    pub at: i64,
}

/// Something that was allowed always, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptApproval {
    /// Its id, to revoke it.
    pub id: String,
    /// The agent.
    pub agent_id: String,
    /// The tool.
    pub tool: String,
    /// What it allows.
    pub pattern: String,
    /// Whether the pattern stands for exactly this and nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
    /// When it was allowed, in milliseconds since 1970.
    pub allowed_at: i64,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// There is no such question, or it is too long ago.
    #[error("there is no such question")]
    Unknown,
    /// It was answered before.
    #[error("it was answered before")]
    AnsweredBefore(ResolvedApproval),
    /// Its time was over, or its turn.
    #[error("nobody waits for the answer any more")]
    Over(ResolvedApproval),
    /// The question cannot be answered for more than this once.
    #[error("it can only be allowed once")]
    OnlyOnce,
}

impl ApprovalAnswer {
    pub(super) const fn outcome(self) -> ApprovalOutcome {
        match self {
            Self::Once => ApprovalOutcome::Once,
            Self::Session => ApprovalOutcome::Session,
            Self::Always => ApprovalOutcome::Always,
            Self::No => ApprovalOutcome::No,
        }
    }

    pub(super) fn approval(self, why: Option<String>) -> Approval {
        match self {
            Self::Once => Approval::Once,
            Self::Session => Approval::Session,
            Self::Always => Approval::Always,
            Self::No => Approval::Denied(why),
        }
    }
}
