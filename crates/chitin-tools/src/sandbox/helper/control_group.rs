//! A control group (cgroup v2) of a command's own, where Chitin was given room for one: there the kernel counts the command as a
//! whole, processes of root too.
//!
//! Room is a group that systemd marked as delegated, or the top of a container's tree. A group can only limit what is below it if no
//! process is in it, so Chitin must be one step below (`DelegateSubgroup=` of systemd 254); where it is alone in the delegated group,
//! it moves there by itself. Nobody else's process is ever moved.

use super::super::fs;
use super::super::limits::CommandLimits;
use super::limits::OWN_TASKS;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// What the names of commands' groups begin with.
const COMMAND: &str = "chitin-command-";
/// The group that Chitin moves to.
const OWN: &str = "chitin";
/// A command never gets more than this part of the machine's memory.
const MEMORY_PARTS: (u64, u64) = (3, 4);
/// How often a group is tried to be removed while its last processes go.
const REMOVALS: u32 = 50;

/// The group of one command. Dropping it ends what is in it.
pub(super) struct ControlGroup {
    directory: PathBuf,
    /// Where the supervisor itself belongs.
    home: PathBuf,
    processes: Option<u64>,
    memory: Option<u64>,
}

impl ControlGroup {
    /// Makes a group and sets its limits, and writes into `limits` what it holds. Where there is no room, nothing is limited together.
    pub(super) fn create(limits: &mut CommandLimits) -> Option<Self> {
        let memory = limits.total_memory_bytes.take();
        limits.control_group = false;
        if memory.is_none() && limits.processes.is_none() {
            return None;
        }
        let room = Room::find()?;
        remove_leftovers(&room.directory);
        let name = format!("{COMMAND}{}", std::process::id());
        let mut group = Self {
            directory: room.directory.join(name),
            home: room.home,
            processes: None,
            memory: None,
        };
        fs::make_directory(&group.directory).ok()?;
        group.processes = limits.processes.filter(|most| {
            let most = most.saturating_add(OWN_TASKS).to_string();
            group.set("pids.max", &most).is_ok()
        });
        let most =
            memory.map(|most| most.min(fs::memory_of_machine() / MEMORY_PARTS.1 * MEMORY_PARTS.0));
        group.memory = most.filter(|most| group.set("memory.max", &most.to_string()).is_ok());
        if group.processes.is_none() && group.memory.is_none() {
            return None;
        }
        // One process that is ended alone would leave the others with half of their work.
        let _ = group.set("memory.oom.group", "1");
        limits.control_group = true;
        limits.total_memory_bytes = group.memory;
        Some(group)
    }

    /// Starts something in the group: this process is in it meanwhile, because a child that is moved later may have children already.
    pub(super) fn start<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        join(&self.directory)?;
        let started = start();
        join(&self.home)?;
        Ok(started)
    }

    /// Tells whether it counts processes.
    pub(super) fn counts_processes(&self) -> bool {
        self.processes.is_some()
    }

    /// Says which limit the kernel enforced.
    pub(super) fn exceeded(&self) -> Option<String> {
        if let Some(most) = self.processes
            && self.events("pids.events", "max") > 0
        {
            return Some(format!("it had more than {most} processes and threads"));
        }
        let most = self.memory?;
        (self.events("memory.events", "oom_kill") > 0).then(|| {
            let megabytes = most / (1 << 20);
            format!("it used more than {megabytes} MB of memory together")
        })
    }

    fn events(&self, file: &str, name: &str) -> u64 {
        let text = fs::text(&self.directory.join(file)).unwrap_or_default();
        let mut fields = text.lines().filter_map(|line| line.split_once(' '));
        let found = fields.find(|(field, _)| *field == name);
        found
            .and_then(|(_, count)| count.trim().parse().ok())
            .unwrap_or(0)
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write_setting(&self.directory.join(file), value)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = self.set("cgroup.kill", "1");
        for _ in 0..REMOVALS {
            if fs::remove_directory(&self.directory).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Where groups of commands can be made.
struct Room {
    directory: PathBuf,
    /// The group of this process.
    home: PathBuf,
}

impl Room {
    fn find() -> Option<Self> {
        let (top, own) = own_group()?;
        let parent = own.parent().filter(|_| own != top);
        if let Some(parent) = parent
            && (parent == top || is_delegated(parent))
            && limits_what_is_below(parent)
        {
            return Some(Self {
                directory: parent.to_owned(),
                home: own,
            });
        }
        if own != top && !is_delegated(&own) {
            return None;
        }
        // The top of the whole machine may hold processes; no other group may.
        if own == top && limits_what_is_below(&own) {
            return Some(Self {
                directory: own.clone(),
                home: own,
            });
        }
        let home = own.join(OWN);
        step_down(&own, &home)?;
        if limits_what_is_below(&own) {
            return Some(Self {
                directory: own,
                home,
            });
        }
        // Without limits the step was for nothing.
        step_down(&home, &own);
        let _ = fs::remove_directory(&home);
        None
    }
}

/// Returns the top of the tree that is seen here, and the group of this process.
fn own_group() -> Option<(PathBuf, PathBuf)> {
    let groups = fs::text(Path::new("/proc/self/cgroup"))?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mounts = fs::text(Path::new("/proc/self/mountinfo"))?;
    let (root, top) = mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let place = (fields.next()?, fields.next()?);
        system.starts_with("cgroup2 ").then_some(place)
    })?;
    let below = Path::new(own).strip_prefix(root).ok()?;
    // A process that was moved out of what it sees is at a path such as `/../other`.
    if below
        .components()
        .any(|part| part == std::path::Component::ParentDir)
    {
        return None;
    }
    Some((PathBuf::from(top), Path::new(top).join(below)))
}

/// Tells whether systemd gave this part of the tree away.
fn is_delegated(group: &Path) -> bool {
    ["trusted.delegate", "user.delegate"].iter().any(|name| {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(group, *name, &mut value);
        length.is_ok_and(|length| &value[..length] == b"1")
    })
}

/// Asks for the limits that are needed and tells whether there is one.
fn limits_what_is_below(group: &Path) -> bool {
    let control = group.join("cgroup.subtree_control");
    for controller in ["+pids", "+memory"] {
        let _ = fs::write_setting(&control, controller);
    }
    let granted = fs::text(&control).unwrap_or_default();
    let granted = granted
        .split_whitespace()
        .any(|one| one == "pids" || one == "memory");
    // What cannot be made there is found out here, and not when a command is to be started.
    granted && rustix::fs::access(group, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Moves Chitin and what it started from one group to another, if nobody else is there.
fn step_down(from: &Path, to: &Path) -> Option<()> {
    let there = fs::text(&from.join("cgroup.procs"))?;
    let there: Vec<i32> = there.lines().filter_map(|line| line.parse().ok()).collect();
    let chitin = rustix::process::getppid()?.as_raw_pid();
    let ours = below(chitin);
    if there.iter().any(|pid| !ours.contains(pid)) {
        return None;
    }
    let _ = fs::make_directory(to);
    for pid in there {
        // What is gone by now needs no move.
        let _ = fs::write_setting(&to.join("cgroup.procs"), &pid.to_string());
    }
    Some(())
}

/// Returns a process and everything below it.
fn below(top: i32) -> BTreeSet<i32> {
    let all = fs::processes();
    let mut found = BTreeSet::from([top]);
    loop {
        let more: Vec<i32> = all
            .iter()
            .filter(|process| found.contains(&process.parent))
            .map(|process| process.pid)
            .filter(|pid| !found.contains(pid))
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

fn join(group: &Path) -> io::Result<()> {
    fs::write_setting(&group.join("cgroup.procs"), "0")
}

/// Removes the groups of commands whose supervisor was killed. One that is in use cannot be removed.
fn remove_leftovers(room: &Path) {
    for group in fs::beginning_with(room, COMMAND) {
        let _ = fs::remove_directory(&group);
    }
}
