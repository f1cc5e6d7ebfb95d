//! Files and directories that gave no skill although they look like one, each with its place and the reason.

use chitin_contract::SkillSource;
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;

/// Something that is wrong with a skill or a root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillProblem {
    /// How bad it is.
    pub severity: ProblemSeverity,
    /// A short name for programs.
    pub code: &'static str,
    /// The source it was met in.
    pub source: SkillSource,
    /// The file or directory.
    #[serde(serialize_with = "crate::json_path::serialize")]
    pub path: PathBuf,
    /// The line, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, counted from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// What is wrong: a sentence.
    pub message: String,
}

/// The code of a skill that was lost because it does not say what it is for.
pub const NO_DESCRIPTION: &str = "no-description";

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemSeverity {
    /// The skill is there all the same.
    Warning,
    /// A skill is lost.
    Error,
}

impl fmt::Display for ProblemSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

impl fmt::Display for SkillProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}: {} [{}]", self.severity, self.message, self.code)
    }
}
