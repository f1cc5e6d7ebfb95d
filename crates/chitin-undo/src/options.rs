//! What is recorded, and how much of it is kept.

use crate::ignore::IgnoreRules;
use std::path::PathBuf;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many bytes all contents may take on the disk. The oldest turns go first; the newest turn never goes.
    pub max_bytes: u64,
    /// How long a turn can be taken back, in milliseconds.
    pub max_age_ms: i64,
    /// The largest file whose content is kept.
    pub max_file_bytes: u64,
    /// How many files and directories are looked at.
    pub max_entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_age_ms: 30 * 24 * 60 * 60 * 1000,
            max_file_bytes: 32 << 20,
            max_entries: 200_000,
        }
    }
}

/// What is recorded.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// How much is kept.
    pub limits: Limits,
    /// Which files and directories are left out.
    pub ignore: IgnoreRules,
    /// Directories that are never looked into, wherever they lie: where state and keys are.
    pub excluded: Vec<PathBuf>,
}
