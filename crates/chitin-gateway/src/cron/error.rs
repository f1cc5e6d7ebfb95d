//! What can go wrong with schedules.

use std::path::PathBuf;

/// Why a schedule could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum CronError {
    /// The file cannot be used.
    #[error("`{}` cannot be used: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no such entry.
    #[error("there is no scheduled job `{id}`")]
    Unknown {
        /// The entry.
        id: String,
    },
    /// The entry says something that cannot be.
    #[error("{0}")]
    Bad(String),
    /// There are too many.
    #[error("there are already {most} scheduled jobs, the maximum")]
    Full {
        /// How many may be there.
        most: usize,
    },
}

impl CronError {
    /// Returns what may be done about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::File { .. } => Some("fix the file, or move it away; nothing was changed"),
            Self::Unknown { .. } => Some("list the jobs to see their ids"),
            Self::Full { .. } => Some("remove some that are no longer needed"),
            Self::Bad(_) => None,
        }
    }
}
