//! Tells when a workspace may have changed.
//!
//! In: the path of a workspace, which need not exist yet. Out: a [`WorkspaceChange`] when things have been quiet for a moment, and at
//! the latest after a bounded delay. A change is a hint: it names paths, it never reads them, and only
//! [`Loader::load`](crate::load::Loader::load) knows what is different. Editors that replace files, directories that are
//! renamed, removed and made again, and a root that is exchanged as a whole are all followed.
//!
//! ```
//! use chitin_workspace::watch::{WatchOptions, Watcher};
//! # fn watch(path: &std::path::Path) -> Result<(), chitin_workspace::watch::WatchError> {
//! let (sender, changes) = std::sync::mpsc::channel();
//! let watcher = Watcher::new(path, &WatchOptions::default(), move |change| {
//!     let _ = sender.send(change);
//! })?;
//! // Load once, then again after each change, until the watcher is dropped.
//! # drop(watcher); drop(changes); Ok(()) }
//! ```

mod backend;
mod change;
mod compat;
mod inbox;
mod listing;
mod options;
mod scope;
mod tree;

pub use change::{Hint, WatchCoverage, WorkspaceChange};
pub use options::WatchOptions;

use backend::Ear;
use inbox::{Inbox, Task};
use scope::Scope;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use thiserror::Error;
use tree::Tree;

/// Why there is no watcher.
#[derive(Debug, Error)]
pub enum WatchError {
    /// The path of the workspace does not start at the root of the file system, or climbs.
    #[error("`{}` cannot be watched, because it is not a plain absolute path", path.display())]
    NotAbsolute {
        /// The path that was given.
        path: PathBuf,
    },
    /// A directory to follow is not beneath the workspace.
    #[error("`{}` cannot be followed, because it is not a plain path beneath the workspace", path.display())]
    NotBeneath {
        /// The directory that was asked for.
        path: PathBuf,
    },
    /// The operating system gave no thread.
    #[error("the watcher of `{}` cannot start: {source}", path.display())]
    Thread {
        /// The path that was given.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Follows one workspace until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    inbox: Arc<Inbox>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts to watch. What happens after this returns is delivered; so load once after, not before.
    ///
    /// `deliver` runs on the watcher's own thread, one change at a time. While it runs, what else happens is gathered.
    /// When the operating system's limits do not allow a watch, the watcher compares fingerprints instead and says so in
    /// [`WorkspaceChange::coverage`]; that is no error.
    pub fn new(
        path: &Path,
        options: &WatchOptions,
        deliver: impl FnMut(WorkspaceChange) + Send + 'static,
    ) -> Result<Self, WatchError> {
        let options = options.bounded();
        let climbs = |path: &Path| path.iter().any(|component| component == "..");
        if !path.is_absolute() || climbs(path) {
            return Err(WatchError::NotAbsolute { path: path.into() });
        }
        // Without `.`, doubled separators and one at the end: events are compared with this spelling.
        let path: PathBuf = path.components().collect();
        let scope = Scope::new(&options.directories)
            .map(Arc::new)
            .map_err(|path| WatchError::NotBeneath { path })?;
        let inbox = Arc::new(Inbox::new(&options));
        let ear = Ear {
            root: path.clone(),
            scope: scope.clone(),
            inbox: inbox.clone(),
        };
        let kernel = match options.max_watches {
            0 => None,
            _ => notify::recommended_watcher(ear).ok(),
        };
        let mut tree = Tree::new(path.clone(), scope, inbox.clone(), kernel, &options);
        tree.follow_root();
        let interval = options.check_interval;
        let thread = thread::Builder::new()
            .name("chitin-watch".into())
            .spawn({
                let inbox = inbox.clone();
                move || work(&inbox, tree, interval, deliver)
            })
            .map_err(|source| WatchError::Thread { path, source })?;
        Ok(Self {
            inbox,
            thread: Some(thread),
        })
    }

    /// Returns how the directories are followed at this moment.
    pub fn coverage(&self) -> WatchCoverage {
        self.inbox.coverage()
    }
}

impl Drop for Watcher {
    /// Stops and waits for a delivery under way. What was gathered and not yet delivered is dropped.
    fn drop(&mut self) {
        self.inbox.stop();
        if let Some(thread) = self.thread.take()
            // A delivery may itself drop the watcher; the thread then ends on its own.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

fn work(
    inbox: &Inbox,
    mut tree: Tree,
    interval: Duration,
    mut deliver: impl FnMut(WorkspaceChange),
) {
    let mut next_check = Instant::now() + interval;
    loop {
        match inbox.wait(next_check) {
            Task::Stop => return,
            Task::Deliver(change) => deliver(change),
            Task::Check => {
                tree.check();
                next_check = Instant::now() + interval;
            }
            Task::FollowRoot => {
                tree.follow_root();
                inbox.rescan();
            }
            Task::FollowDirectories(paths) => tree.follow_directories(&paths),
        }
    }
}
