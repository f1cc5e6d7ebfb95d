//! Repositories and editor settings further down in a directory that commands write to.
//!
//! Somebody cloned a project into the workspace and types `git status` there later. What is there is held as at the top; what a
//! command makes new is its own. The look is bounded, because it comes before each command: shallow directories first.

use chitin_protocol::guarded_paths::{GUARDED_PATHS, GuardedPath};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How many entries of directories are looked at before a command.
const MOST_ENTRIES: usize = 20_000;
/// How far down.
const DEEPEST: usize = 8;
/// How many names are held. Each is a mount or several.
const MOST_HELD: usize = 200;

/// Returns what is guarded below the entries of a directory; what lies in a masked directory is left out.
pub(super) fn guarded_below(root: &Path, masked: &[PathBuf]) -> Vec<PathBuf> {
    let mut held = Vec::new();
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
            if left == 0 || held.len() == MOST_HELD {
                return held;
            }
            left -= 1;
            let path = directory.join(OsStr::from_bytes(name));
            if is_guarded(name) {
                // The top is held already, with what is not there yet.
                if depth > 0 {
                    held.push(path);
                }
                continue;
            }
            let may_be = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            let descend = may_be && depth < DEEPEST;
            if descend && !masked.contains(&path) {
                waiting.push_back((path, depth + 1));
            }
        }
    }
    held
}

fn is_guarded(name: &[u8]) -> bool {
    let anywhere = |guarded: &&GuardedPath| guarded.anywhere;
    let mut names = GUARDED_PATHS.iter().filter(anywhere);
    names.any(|guarded| guarded.name.as_bytes() == name)
}
