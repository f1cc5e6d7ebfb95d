//! Hearing that nothing changed, where looking at every file takes too long.

use chitin_workspace::watch::{WatchOptions, Watcher};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Listens to a workspace.
#[derive(Debug)]
pub(super) struct Watch {
    heard: Arc<AtomicBool>,
    _watcher: Watcher,
}

impl Watch {
    /// Begins to listen; nothing if the machine does not let it.
    pub(super) fn start(workspace: &Path) -> Option<Self> {
        // What happened before it listened is not known.
        let heard = Arc::new(AtomicBool::new(true));
        let hearing = Arc::clone(&heard);
        let watcher = Watcher::new(workspace, &WatchOptions::default(), move |_| {
            hearing.store(true, Ordering::Release);
        });
        Some(Self {
            heard,
            _watcher: watcher.ok()?,
        })
    }

    pub(super) fn heard_nothing(&self) -> bool {
        !self.heard.load(Ordering::Acquire)
    }

    pub(super) fn forget(&self) {
        self.heard.store(false, Ordering::Release);
    }
}
