//! What was heard and not yet dealt with, in bounded memory.

use super::change::{Hint, WatchCoverage, WorkspaceChange};
use super::options::WatchOptions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many directories are looked at again one by one; past it, all are.
const MAX_MOVED: usize = 256;

/// The meeting point of the threads: those that hear put in, the one that works takes out.
#[derive(Debug)]
pub(super) struct Inbox {
    debounce: Duration,
    max_delay: Duration,
    max_paths: usize,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    paths: BTreeMap<PathBuf, Hint>,
    rescan: bool,
    coverage: WatchCoverage,
    /// When the first and the last thing of the change that is being gathered was heard.
    heard: Option<(Instant, Instant)>,
    moved: BTreeSet<PathBuf>,
    root_moved: bool,
    stopped: bool,
}

/// What the working thread has to do next.
#[derive(Debug)]
pub(super) enum Task {
    /// Hand the change to the caller.
    Deliver(WorkspaceChange),
    /// Look at everything that no event tells of.
    Check,
    /// The root, or something on the way to it, was moved, made or removed; or events were lost.
    FollowRoot,
    /// Something was moved, made or removed at these paths.
    FollowDirectories(BTreeSet<PathBuf>),
    /// Nobody wants to know any more.
    Stop,
}

impl Inbox {
    pub(super) fn new(options: &WatchOptions) -> Self {
        Self {
            debounce: options.debounce,
            max_delay: options.max_delay,
            max_paths: options.max_paths,
            state: Mutex::default(),
            arrived: Condvar::new(),
        }
    }

    /// Adds a path to the change that is being gathered.
    pub(super) fn touch(&self, relative: &Path, hint: Hint) {
        self.update(|state| {
            state.hear();
            if let Some(before) = state.paths.get_mut(relative) {
                *before = before.then(hint);
            } else if state.paths.len() < self.max_paths {
                state.paths.insert(relative.into(), hint);
            } else {
                state.rescan = true;
            }
        });
    }

    /// Asks the caller to look at everything.
    pub(super) fn rescan(&self) {
        self.update(|state| {
            state.hear();
            state.rescan = true;
        });
    }

    /// Asks the working thread to look at what stands at this path now.
    pub(super) fn follow(&self, relative: &Path) {
        self.update(|state| {
            if state.moved.len() < MAX_MOVED {
                state.moved.insert(relative.into());
            } else {
                state.moved.clear();
                state.root_moved = true;
            }
        });
    }

    /// Asks the working thread to start from the root again.
    pub(super) fn follow_root(&self) {
        self.update(|state| state.root_moved = true);
    }

    /// Tells how the directories are followed from now on; the caller hears of it when the answer is a new one.
    pub(super) fn set_coverage(&self, coverage: WatchCoverage) {
        self.update(|state| {
            if coverage.is_news_after(&state.coverage) {
                state.hear();
                state.rescan = true;
            }
            state.coverage = coverage;
        });
    }

    pub(super) fn coverage(&self) -> WatchCoverage {
        self.lock().coverage
    }

    /// Makes the working thread stop.
    pub(super) fn stop(&self) {
        self.update(|state| state.stopped = true);
    }

    /// Waits for something to do; the time of the next check is the latest.
    pub(super) fn wait(&self, next_check: Instant) -> Task {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return Task::Stop;
            }
            let now = Instant::now();
            let due = state.due(self.debounce, self.max_delay);
            // Delivery comes first: a tree that keeps moving must not hold a change back.
            if due.is_some_and(|due| due <= now) {
                return Task::Deliver(state.take_change());
            }
            if next_check <= now {
                return Task::Check;
            }
            if std::mem::take(&mut state.root_moved) {
                state.moved.clear();
                return Task::FollowRoot;
            }
            if !state.moved.is_empty() {
                return Task::FollowDirectories(std::mem::take(&mut state.moved));
            }
            let until = due.map_or(next_check, |due| due.min(next_check));
            let waited = self
                .arrived
                .wait_timeout(state, until.saturating_duration_since(now));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.arrived.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn hear(&mut self) {
        let now = Instant::now();
        self.heard = Some((self.heard.map_or(now, |(first, _)| first), now));
    }

    fn due(&self, debounce: Duration, max_delay: Duration) -> Option<Instant> {
        let (first, last) = self.heard?;
        Some((last + debounce).min(first + max_delay))
    }

    fn take_change(&mut self) -> WorkspaceChange {
        self.heard = None;
        WorkspaceChange {
            paths: std::mem::take(&mut self.paths),
            rescan: std::mem::take(&mut self.rescan),
            coverage: self.coverage,
        }
    }
}
