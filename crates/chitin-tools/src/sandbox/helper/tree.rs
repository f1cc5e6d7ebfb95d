//! Ends a command with everything that it started.

#[cfg(target_os = "linux")]
use super::super::fs::{Process, processes};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};
use std::collections::HashSet;
#[cfg(target_os = "linux")]
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

/// How long the tree is hunted for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes this process the parent of whatever its children leave behind, so that a daemon can't get away.
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Kills and collects everything below this process; `main` leads a group of its own.
pub(super) fn kill_everything(main: u32) {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if kill_groups(main) {
            freeze();
            for pid in below() {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Stops whatever is there until nothing new appears, so that nothing forks faster than it is killed.
fn freeze() {
    let mut seen: HashSet<Pid> = HashSet::new();
    for _ in 0..64 {
        let new: Vec<_> = below()
            .into_iter()
            .filter(|pid| seen.insert(*pid))
            .collect();
        if new.is_empty() {
            return;
        }
        for pid in new {
            let _ = kill_process(pid, Signal::STOP);
        }
    }
}

/// Returns how many processes and threads are below this one.
#[cfg(target_os = "linux")]
pub(super) fn tasks_below() -> u64 {
    descendants().iter().map(|process| process.threads).sum()
}

/// Elsewhere they are not known.
#[cfg(not(target_os = "linux"))]
pub(super) fn tasks_below() -> u64 {
    0
}

/// Returns every process below this one.
#[cfg(target_os = "linux")]
fn below() -> Vec<Pid> {
    let found = descendants().into_iter();
    found
        .filter_map(|process| Pid::from_raw(process.pid))
        .collect()
}

#[cfg(target_os = "linux")]
fn descendants() -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in processes() {
        children.entry(process.parent).or_default().push(process);
    }
    // What is taken out can't come again, whatever the table says.
    let mut of = |pid: i32| children.remove(&pid).unwrap_or_default();
    let mut found = of(rustix::process::getpid().as_raw_pid());
    let mut at = 0;
    while let Some(process) = found.get(at) {
        let more = of(process.pid);
        found.extend(more);
        at += 1;
    }
    found
}

/// Kills the groups of what is below, and tells whether there was something. The kernel takes a group as a whole, so whatever
/// forks in it is ended with one call, however fast it is and however busy the machine; what left the group is hunted for.
#[cfg(target_os = "linux")]
fn kill_groups(_main: u32) -> bool {
    let found = descendants();
    // All are of sessions that were made below, except that of an inner helper which has not made its own yet.
    let own = rustix::process::getpgrp().as_raw_pid();
    let groups: BTreeSet<i32> = found
        .iter()
        .map(|process| process.group)
        .filter(|group| *group != own)
        .collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    !found.is_empty()
}

/// Elsewhere only the group of the command is known.
#[cfg(not(target_os = "linux"))]
fn kill_groups(main: u32) -> bool {
    if let Some(group) = i32::try_from(main).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    false
}

#[cfg(not(target_os = "linux"))]
fn below() -> Vec<Pid> {
    Vec::new()
}
