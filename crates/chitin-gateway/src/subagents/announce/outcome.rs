//! How a child ended, and under which id that is told (R41, R43, R47).

use crate::compat::UNKNOWN;
use chitin_contract::AnnounceRules;
use serde::{Deserialize, Serialize};

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "status")]
pub enum ChildOutcome {
    /// It did its task.
    Ok,
    /// Its time was over.
    Timeout,
    /// It failed.
    Error {
        /// Why.
        #[serde(default)]
        error: String,
    },
    /// Nobody knows, as after a crash.
    Unknown,
}

impl ChildOutcome {
    /// Returns the outcome in one word.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Timeout => "timeout",
            Self::Error { .. } => "error",
            Self::Unknown => UNKNOWN,
        }
    }

    /// Returns the outcome in words.
    pub fn label(&self, rules: &AnnounceRules) -> String {
        match self {
            Self::Ok => rules.done_label.to_owned(),
            Self::Timeout => "timed out".to_owned(),
            Self::Error { error } => {
                let error = error.trim();
                let error = if error.is_empty() {
                    "unknown error"
                } else {
                    error
                };
                format!("failed: {error}")
            }
            Self::Unknown => "finished with unknown status".to_owned(),
        }
    }

    /// Returns what of a child's words is announced: none of a child that failed, because nobody vouches for a part.
    pub fn announced<'a>(&self, words: &'a str) -> &'a str {
        match self {
            Self::Ok | Self::Timeout | Self::Unknown => words,
            Self::Error { .. } => "",
        }
    }
}

/// Returns the id under which the end of a run is announced, once.
pub fn announce_id(child_key: &str, run_id: &str) -> String {
    format!("v1:{child_key}:{run_id}")
}

/// Returns the key under which a surface knows that it got an announce already.
pub fn idempotency_key(announce_id: &str) -> String {
    format!("announce:{announce_id}")
}
