//! Names of files that are on their way to another name, and what is left of them by processes that were killed.
//!
//! Where the file system can, a file that is being written has no name at all. Where it cannot, and for the moment in which one file takes
//! the place of another, it has a name that nobody else uses. Lists leave such names out.

use super::open;
use super::policy::LinkPolicy;
use super::root::{DirectoryEntryKind, Root};
use super::{Fingerprint, stamp_now};
use rustix::io::Errno;
use rustix::process::Pid;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// What the names end in.
const MARK: &str = ".chitin.tmp";
/// A file that was written to more recently may be another machine's or another container's, whose processes are not seen here.
const ABANDONED_AFTER: Duration = Duration::from_hours(1);
/// Deeper directories are not looked at.
const MOST_DEPTH: usize = 32;

static NEXT_TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Makes up a name beside another one that nobody else uses: `.NAME.PID-COUNT.chitin.tmp`.
pub(super) fn temporary_name(name: &OsStr) -> OsString {
    beside(name, MARK)
}

/// Makes up a name for something that is to stay.
pub(super) fn kept_name(name: &OsStr) -> OsString {
    beside(name, ".kept")
}

fn beside(name: &OsStr, mark: &str) -> OsString {
    let process = rustix::process::getpid().as_raw_nonzero();
    let count = NEXT_TEMPORARY.fetch_add(1, Ordering::Relaxed);
    let mut temporary = OsString::from(".");
    // The longest names leave no room for an ending.
    let name = name.as_bytes();
    temporary.push(OsStr::from_bytes(&name[..name.len().min(200)]));
    temporary.push(format!(".{process}-{count}{mark}"));
    temporary
}

/// Tells whether a name is one that this crate gives to files for a moment. What has it is no content: a process is writing it, or was
/// killed over it.
pub fn is_leftover_name(name: &OsStr) -> bool {
    process_in(name.as_bytes()).is_some()
}

/// Returns the process that made a temporary name up.
pub(super) fn process_in(name: &[u8]) -> Option<u32> {
    let rest = name.strip_prefix(b".")?.strip_suffix(MARK.as_bytes())?;
    let dot = rest.iter().rposition(|byte| *byte == b'.')?;
    let numbers = std::str::from_utf8(&rest[dot + 1..]).ok()?;
    let (process, count) = numbers.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (dot > 0 && is_number(count) && is_number(process)).then_some(())?;
    process.parse().ok()
}

impl Root {
    /// Finds the files that killed processes left beneath this directory: those with a temporary name whose process is gone and to which
    /// nobody has written for an hour. Looks at no more than `most` names; links are not followed, and what cannot be read is left out.
    pub fn leftovers(&self, most: usize) -> Vec<PathBuf> {
        let now = stamp_now();
        let mut found = Vec::new();
        let mut directories = vec![(PathBuf::new(), 0)];
        let mut left = most;
        while let Some((here, depth)) = directories.pop() {
            let Ok(directory) = self.open_directory(&here, &LinkPolicy::Refuse) else {
                continue;
            };
            let visited = open::each_name(&directory, |name, kind| {
                let bytes = name.to_bytes();
                if matches!(bytes, b"." | b"..") {
                    return true;
                }
                left = left.saturating_sub(1);
                let path = || here.join(OsString::from_vec(bytes.to_vec()));
                match DirectoryEntryKind::from(kind) {
                    DirectoryEntryKind::Directory if depth < MOST_DEPTH => {
                        directories.push((path(), depth + 1));
                    }
                    DirectoryEntryKind::File if process_in(bytes).is_some_and(is_gone) => {
                        found.push(path());
                    }
                    DirectoryEntryKind::Directory
                    | DirectoryEntryKind::File
                    | DirectoryEntryKind::Link
                    | DirectoryEntryKind::Other => {}
                }
                left > 0
            });
            if !matches!(visited, Ok(true)) && left == 0 {
                break;
            }
        }
        found.retain(|path| {
            let end = self.walk(path, &LinkPolicy::Refuse);
            end.is_ok_and(|end| is_old(&end.fingerprint, now))
        });
        found.sort();
        found
    }
}

fn is_gone(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| rustix::process::test_kill_process(process) == Err(Errno::SRCH))
}

fn is_old(fingerprint: &Fingerprint, now: SystemTime) -> bool {
    let written = u64::try_from(fingerprint.mtime.0).unwrap_or_default();
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(written);
    now.duration_since(written)
        .is_ok_and(|age| age > ABANDONED_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_made_up_are_known_and_those_of_people_are_not() {
        for name in ["AGENTS.md", "a", &"x".repeat(255), "with.dots.and-7"] {
            let made = temporary_name(name.as_ref());
            assert!(is_leftover_name(&made), "{}", made.display());
            assert!(made.len() <= 255);
            assert!(!is_leftover_name(&kept_name(name.as_ref())));
        }
        for name in [
            "AGENTS.md",
            ".chitin.tmp",
            ".a.chitin.tmp",
            ".a.1-.chitin.tmp",
            ".a.-1.chitin.tmp",
            ".a.1x-1.chitin.tmp",
            "a.1-1.chitin.tmp",
            ".1-1.chitin.tmp",
            ".a.1-1.tmp",
            ".a.1-1.chitin.tmp.md",
        ] {
            assert!(!is_leftover_name(name.as_ref()), "{name}");
        }
    }
}
