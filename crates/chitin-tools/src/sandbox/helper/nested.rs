//! Repositories and editor settings further down in a directory that commands write to.
//!
//! Somebody cloned a project into the workspace and types `git status` there later. What is there is held as at the top; what a
//! command makes new is its own. The look is bounded, because it comes before each command: shallow directories first.

use super::shield::is_placeholder_at;
use chitin_protocol::guarded_paths::{GUARDED_PATHS, GuardedPath};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many entries of directories are looked at before a command.
const MOST_ENTRIES: usize = 20_000;
/// How far down.
const DEEPEST: usize = 8;
/// How many names are held. Each is a mount or several.
const MOST_HELD: usize = 200;

/// How a walk goes on behind an entry.
enum Next {
    /// Into it, if it is a directory.
    Into,
    /// Past it.
    Past,
    /// Nowhere.
    End,
}

/// Returns what is guarded below the entries of a directory; what lies in a masked directory is left out.
pub(super) fn guarded_below(root: &Path, masked: &[PathBuf]) -> Vec<PathBuf> {
    let mut held = Vec::new();
    walk(root, masked, |path, name, depth| {
        if !is_guarded(name) {
            return Next::Into;
        }
        // The top is held already, with what is not there yet.
        if depth > 0 {
            held.push(path.to_owned());
        }
        if held.len() == MOST_HELD {
            Next::End
        } else {
            Next::Past
        }
    });
    held
}

/// Returns the directories of some names below the entries of a directory that look as if they kept a name free.
pub(super) fn placeholders_below(
    root: &Path,
    masked: &[PathBuf],
    names: &HashSet<OsString>,
) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(root, masked, |path, name, _| {
        if !names.contains(OsStr::from_bytes(name)) || !is_placeholder_at(path) {
            return Next::Into;
        }
        found.push(path.to_owned());
        Next::Past
    });
    found
}

/// Shows the entries below a directory, with their depth, until a limit is reached.
fn walk(root: &Path, masked: &[PathBuf], mut see: impl FnMut(&Path, &[u8], usize) -> Next) {
    let mut left = MOST_ENTRIES;
    let mut waiting = VecDeque::from([(root.to_owned(), 0)]);
    while let Some((directory, depth)) = waiting.pop_front() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&directory, flags, Mode::empty());
        // What this process cannot read, a command cannot either.
        let Ok(entries) = opened.and_then(Dir::new) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if left == 0 {
                return;
            }
            left -= 1;
            let path = directory.join(OsStr::from_bytes(name));
            match see(&path, name, depth) {
                Next::Into => {}
                Next::Past => continue,
                Next::End => return,
            }
            let may_be = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            let descend = may_be && depth < DEEPEST;
            if descend && !masked.contains(&path) {
                waiting.push_back((path, depth + 1));
            }
        }
    }
}

fn is_guarded(name: &[u8]) -> bool {
    let anywhere = |guarded: &&GuardedPath| guarded.anywhere;
    let mut names = GUARDED_PATHS.iter().filter(anywhere);
    names.any(|guarded| guarded.name.as_bytes() == name)
}
