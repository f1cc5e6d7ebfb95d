//! What is worth saying about loading and cutting, in one line each.

use chitin_protocol::record::FileRefusal;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Something that did not go as the author may think.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ContextWarning {
    /// A file was not read.
    Refused {
        /// The file.
        name: String,
        /// Why.
        reason: FileRefusal,
    },
    /// Only the beginning of a file was read.
    Oversize {
        /// The file.
        name: String,
        /// Its size in bytes.
        size: u64,
    },
    /// A file was cut.
    Truncated {
        /// The file.
        name: String,
        /// Its length.
        length: usize,
        /// What it was cut to.
        limit: usize,
    },
    /// So little was left of the budget that all further files were left out.
    Stopped {
        /// What was left.
        remaining: usize,
    },
    /// A file without a path was passed over.
    Skipped {
        /// The file.
        name: String,
    },
}

/// The short form that recorded cases and logs have.
impl fmt::Display for ContextWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { name, reason } => write!(f, "refused {name} {reason}"),
            Self::Oversize { name, size } => write!(f, "oversize {name} {size}"),
            Self::Truncated {
                name,
                length,
                limit,
            } => write!(f, "truncated {name} {length} {limit}"),
            Self::Stopped { remaining } => write!(f, "stopped {remaining}"),
            Self::Skipped { name } => write!(f, "skipped {name}"),
        }
    }
}
