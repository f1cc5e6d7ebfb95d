//! What the watcher says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// One change, or many that came close together. A hint where to look: only a load knows what really changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceChange {
    /// The paths that were touched, relative to the root, each with what was last seen of it.
    pub paths: BTreeMap<PathBuf, Hint>,
    /// Whether `paths` may be incomplete, so that everything has to be looked at.
    pub rescan: bool,
    /// How the directories are followed at this moment.
    pub coverage: WatchCoverage,
}

/// What seems to have happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Hint {
    /// It was made, or moved here; perhaps over something else.
    Appeared,
    /// Its content or its permissions were written, or it was replaced.
    Written,
    /// It was removed, or moved away.
    Gone,
}

impl Hint {
    /// Returns what two things that happened one after the other are together.
    pub(super) const fn then(self, later: Self) -> Self {
        match (self, later) {
            (_, Self::Gone) => Self::Gone,
            (Self::Appeared, Self::Appeared | Self::Written) => Self::Appeared,
            (Self::Written | Self::Gone, Self::Appeared | Self::Written) => Self::Written,
        }
    }
}

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchCoverage {
    /// The operating system reports changes in every directory.
    #[default]
    Events,
    /// Some directories got no watch, because a limit was reached. They are compared by fingerprint instead.
    Polling {
        /// How many directories are compared.
        directories: usize,
        /// How often they are compared.
        interval: Duration,
    },
    /// The tree is larger than what is followed. Changes in the rest are seen by the next load only.
    Partial,
}

impl WatchCoverage {
    /// Tells whether a user who was told the one should be told the other.
    pub(super) fn is_news_after(&self, before: &Self) -> bool {
        std::mem::discriminant(self) != std::mem::discriminant(before)
    }
}
