//! Ends a command with everything that it started.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};
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
    kill_group(main);
    while Instant::now() < until {
        freeze();
        for pid in below() {
            let _ = kill_process(pid, Signal::KILL);
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
    let mut seen: Vec<Pid> = Vec::new();
    for _ in 0..64 {
        let new: Vec<_> = below()
            .into_iter()
            .filter(|pid| !seen.contains(pid))
            .collect();
        if new.is_empty() {
            return;
        }
        for pid in new {
            let _ = kill_process(pid, Signal::STOP);
            seen.push(pid);
        }
    }
}

/// Returns every process below this one.
#[cfg(target_os = "linux")]
fn below() -> Vec<Pid> {
    let processes = super::super::door::processes();
    let mut known = vec![rustix::process::getpid().as_raw_pid()];
    let mut at = 0;
    while let Some(parent) = known.get(at).copied() {
        at += 1;
        let children = processes
            .iter()
            .filter(|(pid, of)| *of == parent && !known.contains(pid));
        let children: Vec<_> = children.map(|(pid, _)| *pid).collect();
        known.extend(children);
    }
    known[1..]
        .iter()
        .filter_map(|pid| Pid::from_raw(*pid))
        .collect()
}

/// The table of processes tells all there is to know.
#[cfg(target_os = "linux")]
fn kill_group(_main: u32) {}

/// Elsewhere only the group is known.
#[cfg(not(target_os = "linux"))]
fn kill_group(main: u32) {
    if let Some(group) = i32::try_from(main).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(target_os = "linux"))]
fn below() -> Vec<Pid> {
    Vec::new()
}
