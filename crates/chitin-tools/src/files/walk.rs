//! Going through a tree: in order, no link followed, ignored files left out.

use super::roots::RootedPath;
use chitin_guard::{DirectoryEntry, DirectoryEntryKind, LinkPolicy, Oversized, ReadPolicy};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Files that say what is ignored, the later ones stronger.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// A file of ignore rules that is larger is none.
const MOST_IGNORE_BYTES: u64 = 256 * 1024;

/// A directory with more names is not gone through.
const MOST_NAMES: usize = 100_000;

/// So many names are looked at, and so long.
const MOST_ENTRIES: usize = 500_000;
const LONGEST_TIME: Duration = Duration::from_secs(20);

/// No honest tree is deeper.
const DEEPEST: usize = 64;

/// What is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    /// What `.gitignore` and `.ignore` name, and `.git` itself.
    LeftOut,
    /// Nothing.
    Included,
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    On,
    Stop,
}

/// Why a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    All,
    /// The visitor had enough.
    Stopped,
    /// Too many names, or too long.
    GaveUp,
    /// Some directories could not be read.
    NotAll,
}

/// Goes through everything beneath a directory. `visit` gets the path relative to the root of the place.
pub(super) fn walk(
    place: &RootedPath<'_>,
    depth: usize,
    ignored: Ignored,
    cancel: &CancellationToken,
    visit: &mut dyn FnMut(&Path, DirectoryEntryKind) -> Go,
) -> Walked {
    let mut walker = Walker {
        place,
        ignored,
        cancel,
        visit,
        entries: 0,
        began: Instant::now(),
        unread: false,
    };
    let above = match ignored {
        Ignored::LeftOut => walker.rules_above(&place.relative),
        Ignored::Included => Vec::new(),
    };
    let end = walker.directory(&place.relative, depth.min(DEEPEST), &above);
    match end {
        Some(end) => end,
        None if walker.unread => Walked::NotAll,
        None => Walked::All,
    }
}

struct Walker<'w> {
    place: &'w RootedPath<'w>,
    ignored: Ignored,
    cancel: &'w CancellationToken,
    visit: &'w mut dyn FnMut(&Path, DirectoryEntryKind) -> Go,
    entries: usize,
    began: Instant,
    unread: bool,
}

impl Walker<'_> {
    /// Goes through one directory; returns why to stop, if to stop.
    fn directory(&mut self, at: &Path, depth: usize, above: &[Gitignore]) -> Option<Walked> {
        // The directory that was asked for may be a link by policy; below it none is followed.
        let links = if at == self.place.relative {
            self.place.links()
        } else {
            &LinkPolicy::Refuse
        };
        let Ok(mut entries) = self.place.root.list(at, links, MOST_NAMES) else {
            self.unread = true;
            return None;
        };
        entries.sort();
        let mut rules = above.to_vec();
        if self.ignored == Ignored::LeftOut {
            rules.extend(self.rules_of(at, &entries));
        }
        for entry in &entries {
            self.entries += 1;
            if self.entries > MOST_ENTRIES
                || self.began.elapsed() > LONGEST_TIME
                || self.cancel.is_cancelled()
            {
                return Some(Walked::GaveUp);
            }
            let path = at.join(&entry.name);
            if self.ignored == Ignored::LeftOut && is_ignored(&path, entry, &rules) {
                continue;
            }
            if (self.visit)(&path, entry.kind) == Go::Stop {
                return Some(Walked::Stopped);
            }
            if entry.kind == DirectoryEntryKind::Directory && depth > 1 {
                let end = self.directory(&path, depth - 1, &rules);
                if end.is_some() {
                    return end;
                }
            }
        }
        None
    }

    /// Reads the rules of the directories on the way down to where the walk begins.
    fn rules_above(&self, at: &Path) -> Vec<Gitignore> {
        let mut above: Vec<&Path> = at.ancestors().skip(1).collect();
        above.reverse();
        above
            .into_iter()
            .flat_map(|directory| {
                let names = IGNORE_FILES.map(|name| DirectoryEntry {
                    name: name.into(),
                    kind: DirectoryEntryKind::File,
                });
                self.rules_of(directory, &names)
            })
            .collect()
    }

    fn rules_of(&self, at: &Path, entries: &[DirectoryEntry]) -> Vec<Gitignore> {
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            oversized: Oversized::Refuse,
            ..self.place.policy(MOST_IGNORE_BYTES, Oversized::Refuse)
        };
        IGNORE_FILES
            .into_iter()
            .filter(|name| {
                let name = OsStr::new(name);
                entries
                    .iter()
                    .any(|entry| entry.name == name && entry.kind == DirectoryEntryKind::File)
            })
            .filter_map(|name| {
                let read = self.place.root.read(&at.join(name), &policy).ok()?;
                let text = String::from_utf8_lossy(&read.bytes).into_owned();
                let mut builder = GitignoreBuilder::new(at);
                for line in text.lines() {
                    // A rule that is not understood says nothing, as with Git.
                    let _ = builder.add_line(None::<PathBuf>, line);
                }
                builder.build().ok().filter(|rules| !rules.is_empty())
            })
            .collect()
    }
}

fn is_ignored(path: &Path, entry: &DirectoryEntry, rules: &[Gitignore]) -> bool {
    if entry.name == ".git" {
        return true;
    }
    let is_directory = entry.kind == DirectoryEntryKind::Directory;
    for rules in rules.iter().rev() {
        match rules.matched(path, is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
    }
    false
}
