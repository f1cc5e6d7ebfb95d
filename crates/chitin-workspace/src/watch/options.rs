//! What a caller may choose.

use super::compat::FOLLOWED_DIRECTORIES;
use std::path::PathBuf;
use std::time::Duration;

/// Checks never come closer together than this.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// No time is longer than this; it keeps sums of times within what the clock can say.
const LONGEST: Duration = Duration::from_hours(24);

/// How patient, and how greedy, a watcher is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// How long nothing must happen before a change is delivered: 100 ms.
    pub debounce: Duration,
    /// How long a change waits at most while more keep coming: 1 s.
    pub max_delay: Duration,
    /// How often the path of the root, and directories without a watch, are looked at: 2 s.
    pub check_interval: Duration,
    /// How many directories the operating system is asked to watch, the parent of the root included: 1,024. With none,
    /// everything is compared by fingerprint, which also works on network file systems.
    pub max_watches: usize,
    /// How many paths one change names before it says `rescan`: 1,024.
    pub max_paths: usize,
    /// The directories beneath the root that are followed with all they hold. The root itself is always followed, but
    /// only the names directly in it.
    pub directories: Vec<PathBuf>,
}

impl Default for WatchOptions {
    fn default() -> Self {
        Self {
            debounce: Duration::from_millis(100),
            max_delay: Duration::from_secs(1),
            check_interval: Duration::from_secs(2),
            max_watches: 1024,
            max_paths: 1024,
            directories: FOLLOWED_DIRECTORIES.map(PathBuf::from).into(),
        }
    }
}

impl WatchOptions {
    /// Returns the same choice with times that a thread can live by.
    pub(super) fn bounded(&self) -> Self {
        Self {
            debounce: self.debounce.min(LONGEST),
            max_delay: self.max_delay.min(LONGEST),
            check_interval: self.check_interval.clamp(SHORTEST_INTERVAL, LONGEST),
            ..self.clone()
        }
    }
}
