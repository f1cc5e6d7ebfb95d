//! Which directories are followed, and how.
//!
//! Every directory gets a watch of its own, from our own walk: so their number is bounded, `node_modules` costs nothing
//! and no link is followed. What gets no watch is compared by fingerprint.

use super::change::{Hint, WatchCoverage};
use super::inbox::Inbox;
use super::listing::{Difference, Listing};
use super::options::WatchOptions;
use super::scope::Scope;
use chitin_guard::{DirectoryEntryKind, LinkPolicy, Root};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How many directories are followed in all.
const MAX_DIRECTORIES: usize = 4096;
/// How deep beneath the root a directory may lie.
const MAX_DEPTH: usize = 16;
/// How many names of one directory are looked at.
const MAX_ENTRIES: usize = 10_000;
/// How many fingerprints are kept in all.
const MAX_FINGERPRINTS: usize = 50_000;

/// What tells one directory from another that took its name.
type Identity = (u64, u64);

/// The followed part of a workspace.
#[derive(Debug)]
pub(super) struct Tree {
    root: PathBuf,
    scope: Arc<Scope>,
    inbox: Arc<Inbox>,
    /// Absent when the operating system gives no watcher at all.
    kernel: Option<RecommendedWatcher>,
    max_watches: usize,
    interval: Duration,
    whereabouts: Whereabouts,
    anchor_is_watched: bool,
    directories: BTreeMap<PathBuf, Means>,
    watches: usize,
    fingerprints: usize,
    left_out: bool,
}

/// How changes in one directory are noticed.
#[derive(Debug)]
enum Means {
    Watched,
    Compared(Listing),
}

/// Whether the entries of a directory that was just found are news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entries {
    Known,
    New,
}

/// Where the root is, or the nearest directory above it that exists.
#[derive(Debug, Default, PartialEq, Eq)]
struct Whereabouts {
    root: Option<Identity>,
    anchor: Option<(PathBuf, Identity)>,
}

impl Tree {
    pub(super) fn new(
        root: PathBuf,
        scope: Arc<Scope>,
        inbox: Arc<Inbox>,
        kernel: Option<RecommendedWatcher>,
        options: &WatchOptions,
    ) -> Self {
        Self {
            root,
            scope,
            inbox,
            kernel,
            max_watches: options.max_watches,
            interval: options.check_interval,
            whereabouts: Whereabouts::default(),
            anchor_is_watched: false,
            directories: BTreeMap::new(),
            watches: 0,
            fingerprints: 0,
            left_out: false,
        }
    }

    /// Starts over: finds the root, or waits for it from above, and follows what it holds.
    pub(super) fn follow_root(&mut self) {
        self.let_go(Path::new(""));
        self.left_out = false;
        if let Some((anchor, _)) = self.whereabouts.anchor.take()
            && std::mem::take(&mut self.anchor_is_watched)
        {
            self.unwatch(&anchor);
        }
        // The anchor first: a root that appears from here on is heard of.
        let anchor = nearest_above(&self.root);
        if let Some((path, _)) = &anchor {
            self.anchor_is_watched = self.watch(path);
        }
        let root = Root::open(&self.root).ok();
        self.whereabouts = Whereabouts {
            root: root.as_ref().and_then(identity),
            anchor,
        };
        if let Some(root) = root {
            self.follow(&root, PathBuf::new(), Entries::Known);
        }
        self.tell_coverage();
    }

    /// Looks at what stands at these paths now, and follows the directories among them.
    pub(super) fn follow_directories(&mut self, paths: &BTreeSet<PathBuf>) {
        // Without a root there is nothing to follow; its own events say when to start over.
        let Ok(root) = Root::open(&self.root) else {
            return;
        };
        let mut done: Option<&PathBuf> = None;
        for path in paths {
            // Sorted, so that a directory comes before what it holds.
            if done.is_some_and(|done| path.starts_with(done)) {
                continue;
            }
            // Always a fresh watch: the old one may belong to a directory that was moved away from this name.
            self.let_go(path);
            if root.kind(path) == Some(DirectoryEntryKind::Directory) {
                self.follow(&root, path.clone(), Entries::New);
                done = Some(path);
            }
        }
        self.tell_coverage();
    }

    /// Looks at what no event tells of: where the root's path leads, and the directories without a watch.
    pub(super) fn check(&mut self) {
        let root = Root::open(&self.root).ok();
        let now = Whereabouts {
            root: root.as_ref().and_then(identity),
            anchor: nearest_above(&self.root),
        };
        if now != self.whereabouts {
            self.follow_root();
            self.inbox.rescan();
            return;
        }
        if let Some(root) = root {
            self.compare(&root);
            self.tell_coverage();
        }
    }

    /// Compares the directories without a watch with what they were.
    fn compare(&mut self, root: &Root) {
        let compared = self
            .directories
            .iter()
            .filter(|(_, means)| matches!(means, Means::Compared(_)))
            .map(|(path, _)| path.clone());
        let compared: Vec<PathBuf> = compared.collect();
        let mut to_follow = BTreeSet::new();
        let mut may_watch = true;
        for directory in compared {
            // Watches may have become free. The comparison still runs once more, after the watch is there.
            let watched = may_watch && self.watch(&self.root.join(&directory));
            may_watch = watched;
            let Some(Means::Compared(before)) = self.directories.remove(&directory) else {
                continue;
            };
            self.fingerprints -= before.len();
            let now = Listing::take(root, &directory, self.listing_limit());
            for (name, difference) in before.differences(&now) {
                let path = directory.join(name);
                let (hint, moves) = match difference {
                    Difference::Appeared => (Hint::Appeared, true),
                    Difference::Replaced => (Hint::Written, true),
                    Difference::Gone => (Hint::Gone, true),
                    Difference::Written => (Hint::Written, false),
                };
                if self.scope.reports(&path) {
                    self.inbox.touch(&path, hint);
                }
                if moves && self.scope.follows(&path) {
                    to_follow.insert(path);
                }
            }
            if before.is_whole() != now.is_whole() {
                self.inbox.rescan();
            }
            let means = if watched {
                Means::Watched
            } else {
                self.fingerprints += now.len();
                Means::Compared(now)
            };
            self.directories.insert(directory, means);
        }
        if !to_follow.is_empty() {
            self.follow_directories(&to_follow);
        }
    }

    /// Follows a directory and those in it that are in scope.
    fn follow(&mut self, root: &Root, directory: PathBuf, entries: Entries) {
        let mut waiting = vec![directory];
        while let Some(directory) = waiting.pop() {
            if self.directories.len() == MAX_DIRECTORIES
                || directory.components().count() > MAX_DEPTH
            {
                self.left_out = true;
                continue;
            }
            // The watch first: an entry that appears after the listing is heard of.
            let watched = self.watch(&self.root.join(&directory));
            let Ok(found) = root.list(&directory, &LinkPolicy::Refuse, MAX_ENTRIES) else {
                if entries == Entries::New {
                    self.inbox.rescan();
                }
                self.follow_unlisted(root, directory, watched);
                continue;
            };
            for entry in found {
                let path = directory.join(&entry.name);
                if entries == Entries::New && self.scope.reports(&path) {
                    self.inbox.touch(&path, Hint::Appeared);
                }
                if entry.kind == DirectoryEntryKind::Directory && self.scope.follows(&path) {
                    waiting.push(path);
                }
            }
            self.keep(root, directory, watched);
        }
    }

    /// Follows a directory whose names cannot be read, or are too many.
    fn follow_unlisted(&mut self, root: &Root, directory: PathBuf, watched: bool) {
        let is_there = directory.as_os_str().is_empty()
            || root.kind(&directory) == Some(DirectoryEntryKind::Directory);
        if is_there {
            self.left_out |= watched;
            self.keep(root, directory, watched);
        } else if watched {
            self.unwatch(&self.root.join(&directory));
        }
    }

    fn keep(&mut self, root: &Root, directory: PathBuf, watched: bool) {
        let means = if watched {
            Means::Watched
        } else {
            let listing = Listing::take(root, &directory, self.listing_limit());
            self.fingerprints += listing.len();
            Means::Compared(listing)
        };
        self.directories.insert(directory, means);
    }

    fn listing_limit(&self) -> usize {
        MAX_ENTRIES.min(MAX_FINGERPRINTS.saturating_sub(self.fingerprints))
    }

    /// Stops following a directory and all beneath it.
    fn let_go(&mut self, directory: &Path) {
        let gone: Vec<PathBuf> = self
            .directories
            .range::<Path, _>((Bound::Included(directory), Bound::Unbounded))
            .map(|(path, _)| path)
            .take_while(|path| path.starts_with(directory))
            .cloned()
            .collect();
        for path in gone {
            match self.directories.remove(&path) {
                Some(Means::Watched) => self.unwatch(&self.root.join(&path)),
                Some(Means::Compared(listing)) => self.fingerprints -= listing.len(),
                None => {}
            }
        }
    }

    fn watch(&mut self, path: &Path) -> bool {
        let Some(kernel) = &mut self.kernel else {
            return false;
        };
        let watched = self.watches < self.max_watches
            && kernel.watch(path, RecursiveMode::NonRecursive).is_ok();
        self.watches += usize::from(watched);
        watched
    }

    fn unwatch(&mut self, path: &Path) {
        if let Some(kernel) = &mut self.kernel {
            // It fails when the directory is gone, and the watch with it.
            let _ = kernel.unwatch(path);
        }
        self.watches = self.watches.saturating_sub(1);
    }

    fn tell_coverage(&self) {
        let mut directories = 0;
        let mut left_out = self.left_out;
        for means in self.directories.values() {
            if let Means::Compared(listing) = means {
                directories += 1;
                left_out |= !listing.is_whole();
            }
        }
        self.inbox.set_coverage(if left_out {
            WatchCoverage::Partial
        } else if directories > 0 {
            WatchCoverage::Polling {
                directories,
                interval: self.interval,
            }
        } else {
            WatchCoverage::Events
        });
    }
}

/// Finds the nearest directory above a path that exists.
fn nearest_above(path: &Path) -> Option<(PathBuf, Identity)> {
    path.ancestors().skip(1).find_map(|above| {
        let directory = Root::open(above).ok()?;
        Some((above.to_path_buf(), identity(&directory)?))
    })
}

fn identity(directory: &Root) -> Option<Identity> {
    let fingerprint = directory.fingerprint(Path::new(""))?;
    Some((fingerprint.dev, fingerprint.ino))
}
