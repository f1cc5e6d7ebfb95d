//! How much is done to bring the index up to date.

use crate::index::SyncProgress;
use std::time::{Duration, Instant};

/// How the index is brought up to date.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Is told how far it is.
    pub progress: &'a dyn Fn(&SyncProgress),
    /// Tells whether to stop.
    pub cancelled: &'a dyn Fn() -> bool,
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Whether what a watcher says is enough.
    pub trust: WatcherTrust,
}

/// Whether what a watcher says is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatcherTrust {
    /// It is, where there are very many files.
    Watcher,
    /// Every file is looked at.
    Nobody,
}

impl Effort<'_> {
    /// Looks at everything and does not stop.
    pub const fn whole() -> Self {
        Self {
            progress: &|_| {},
            cancelled: &|| false,
            deadline: None,
            trust: WatcherTrust::Nobody,
        }
    }

    /// Stops after so long; what was not done then is done next time.
    pub fn within(time: Duration) -> Self {
        Self {
            deadline: Instant::now().checked_add(time),
            trust: WatcherTrust::Watcher,
            ..Self::whole()
        }
    }
}
