//! A finding about configuration, for people and for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// How bad a finding is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum IssueSeverity {
    /// The configuration cannot be used.
    Error,
    /// It can be used, and does perhaps not say what was meant.
    Warning,
    /// Nothing is wrong; somebody may want to know it.
    Note,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    /// The value it is about, dotted; empty means the whole configuration.
    pub path: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
    /// The file that says it.
    pub file: Option<PathBuf>,
    /// The line, counted from one.
    pub line: Option<usize>,
    /// The column in characters, counted from one.
    pub column: Option<usize>,
    /// How bad it is.
    pub severity: IssueSeverity,
    /// Whether it is about a key that is not known: its value may be anything, a secret too.
    #[serde(skip)]
    pub is_unknown_key: bool,
}

impl Issue {
    /// Builds a finding without a place.
    pub fn new(
        severity: IssueSeverity,
        path: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            hint: None,
            file: None,
            line: None,
            column: None,
            severity,
            is_unknown_key: false,
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let (Some(line), Some(column)) = (self.line, self.column) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": ")?;
        }
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path)?;
        }
        write!(f, "{}", self.message)
    }
}
