//! The one door of the sandbox to the disk. It looks at names and kinds of roots; it never reads a file of the user.
#![expect(
    clippy::disallowed_methods,
    reason = "roots of a sandbox are absolute paths of the machine, not files of a workspace"
)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FsEntryKind {
    Directory,
    Other,
}

/// Returns the path with all links resolved.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Returns what stands at a path, links followed.
pub(super) fn kind(path: &Path) -> Option<FsEntryKind> {
    let found = fs::metadata(path).ok()?;
    Some(if found.is_dir() {
        FsEntryKind::Directory
    } else {
        FsEntryKind::Other
    })
}

/// Returns what in a directory has a name that begins so.
pub(super) fn beginning_with(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// What a directory holds under a name, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FsEntry {
    Link,
    Plain,
}

/// Returns what stands directly in a directory, as far as it has a name in UTF-8.
pub(super) fn entries(directory: &Path) -> Vec<(String, FsEntry)> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let kind = if kind.is_symlink() {
                FsEntry::Link
            } else {
                FsEntry::Plain
            };
            Some((entry.file_name().into_string().ok()?, kind))
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Opens what a descriptor of this process writes to, which must be a pipe, once more.
pub(super) fn opened_again(descriptor: i32) -> io::Result<fs::File> {
    fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/self/fd/{descriptor}"))
}

/// A process of the machine.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) threads: u64,
}

/// Returns the processes of the machine, as far as they can be seen.
#[cfg(target_os = "linux")]
pub(super) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
            // The name stands in brackets and may hold anything, brackets too: what counts comes after the last one.
            let stat = String::from_utf8_lossy(&stat);
            let mut numbers = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
            Some(Process {
                pid,
                parent: numbers.next()?.parse().ok()?,
                group: numbers.next()?.parse().ok()?,
                threads: numbers.nth(14)?.parse().ok()?,
            })
        })
        .collect()
}

/// Returns how many processes and threads the machine has.
pub(super) fn tasks_of_machine() -> Option<u64> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let (_, all) = load.split_whitespace().nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// Returns a short text of the kernel.
#[cfg(target_os = "linux")]
pub(super) fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Sets something of the kernel's.
#[cfg(target_os = "linux")]
pub(super) fn write_setting(path: &Path, value: &str) -> io::Result<()> {
    fs::write(path, value)
}

/// Makes a directory of the kernel's, such as a control group.
#[cfg(target_os = "linux")]
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Removes one; a control group goes only when nothing is in it.
#[cfg(target_os = "linux")]
pub(super) fn remove_directory(path: &Path) -> io::Result<()> {
    fs::remove_dir(path)
}

/// Returns how much memory the machine has, in bytes.
#[cfg(target_os = "linux")]
pub(super) fn memory_of_machine() -> u64 {
    let facts = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = facts
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = total.and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1024))
}

/// Returns how many processes and threads this user has.
#[cfg(target_os = "linux")]
pub(super) fn tasks_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let owned = |process: &Process| {
        fs::metadata(format!("/proc/{}", process.pid)).is_ok_and(|found| found.uid() == user)
    };
    let found = processes().into_iter();
    found.filter(owned).map(|process| process.threads).sum()
}

/// Elsewhere they are not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn tasks_of_user() -> u64 {
    0
}

/// Returns how many bytes the files below a directory take, links not followed, after so many files at most.
pub(super) fn bytes_below(directory: &Path, files: &mut usize) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut bytes: u64 = 0;
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            if *files == 0 {
                return bytes;
            }
            *files -= 1;
            let Ok(found) = entry.metadata() else {
                continue;
            };
            bytes = bytes.saturating_add(found.blocks().saturating_mul(512));
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

/// Returns the descriptors of this process beyond the first three.
#[cfg(target_os = "linux")]
pub(super) fn open_descriptors() -> Vec<i32> {
    match fs::read_dir("/proc/self/fd") {
        Ok(entries) => entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(|descriptor| *descriptor > 2)
            .collect(),
        // Without /proc every likely number is tried; a number that is not open does no harm.
        Err(_) => (3..4096).collect(),
    }
}
