//! Limits: what the kernel counts is set before the command begins; the rest is watched by the supervisor.

use super::super::fs;
use super::super::limits::CommandLimits;
use super::super::policy::Policy;
use super::control_group::ControlGroup;
use super::tree;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often the supervisor looks.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// How often it counts, whatever the number of tasks on the machine says.
const COUNTED: Duration = Duration::from_secs(5);
/// How often it measures the private directory, at most.
const MEASURED: Duration = Duration::from_secs(5);
/// Measuring may take this part of the time.
const SHARE: u32 = 50;
/// How many files of the private directory are looked at.
const MOST_FILES: usize = 200_000;
/// Tasks that are there for the command's sake: `bwrap`, twice, and the helper.
pub(super) const OWN_TASKS: u64 = 8;
/// Between the signal that says that the time is over and the one that ends the process.
const LAST_SECONDS: u64 = 5;

/// Sets what the kernel counts, for good, and returns what is in force. `tasks` is how many tasks of this user the kernel counts
/// already.
pub(super) fn apply(limits: &CommandLimits, tasks: u64) -> Result<CommandLimits, String> {
    let mut held = *limits;
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: rustix::io::Errno| format!("could not limit {what}: {error}")
    };
    if let Some(most) = held.memory_bytes {
        held.memory_bytes = Some(lower(Resource::Data, most, most).map_err(failed("memory"))?);
    }
    if let Some(most) = held.cpu_seconds {
        let seconds = lower(Resource::Cpu, most, most.saturating_add(LAST_SECONDS));
        held.cpu_seconds = Some(seconds.map_err(failed("processor time"))?);
    }
    if let Some(most) = held.open_files {
        held.open_files = Some(lower(Resource::Nofile, most, most).map_err(failed("files"))?);
    }
    if let Some(most) = held.disk_bytes {
        lower(Resource::Fsize, most, most).map_err(failed("the size of files"))?;
    }
    if let Some(most) = held.processes {
        let most = most.saturating_add(OWN_TASKS).saturating_add(tasks);
        lower(Resource::Nproc, most, most).map_err(failed("processes"))?;
        held.processes_watched = rustix::process::geteuid().is_root() && !held.control_group;
    }
    Ok(held)
}

/// Lowers a limit; a lower one that is in force already stays. Returns what is in force.
fn lower(resource: Resource, soft: u64, hard: u64) -> Result<u64, rustix::io::Errno> {
    let now = getrlimit(resource);
    let least = |now: Option<u64>, wanted: u64| now.map_or(wanted, |now| now.min(wanted));
    let limit = Rlimit {
        current: Some(least(now.current, soft)),
        maximum: Some(least(now.maximum, hard)),
    };
    let soft = least(now.current, soft);
    setrlimit(resource, limit)?;
    Ok(soft)
}

/// Watches what the kernel does not count, or not for this user.
pub(super) struct Watch<'a> {
    group: Option<&'a ControlGroup>,
    processes: Option<u64>,
    disk: Option<u64>,
    directories: Vec<PathBuf>,
    /// How many tasks the machine had when this began.
    before: u64,
    counted: Instant,
    measured: Instant,
    pause: Duration,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        limits: &CommandLimits,
        policy: &Policy,
        group: Option<&'a ControlGroup>,
    ) -> Self {
        let now = Instant::now();
        let counted = group.is_some_and(ControlGroup::counts_processes);
        Self {
            group,
            processes: limits.processes.filter(|_| !counted),
            disk: limits.disk_bytes,
            directories: vec![policy.tmp.clone(), policy.home.clone()],
            before: fs::tasks_of_machine().unwrap_or(0),
            counted: now,
            measured: now,
            pause: MEASURED,
        }
    }

    /// Says whether there is anything to watch.
    pub(super) fn is_needed(&self) -> bool {
        self.processes.is_some() || self.disk.is_some() || self.group.is_some()
    }

    /// Says which limit is exceeded.
    pub(super) fn exceeded(&mut self) -> Option<String> {
        self.group
            .and_then(ControlGroup::exceeded)
            .or_else(|| self.too_many_processes())
            .or_else(|| self.too_much_on_disk())
    }

    fn too_many_processes(&mut self) -> Option<String> {
        let most = self.processes?;
        // Reading one small file tells whether a storm is possible at all.
        let possible =
            fs::tasks_of_machine().is_none_or(|now| now > self.before.saturating_add(most / 2));
        if !possible && self.counted.elapsed() < COUNTED {
            return None;
        }
        self.counted = Instant::now();
        let found = tree::tasks_below();
        (found > most.saturating_add(OWN_TASKS))
            .then(|| format!("it had more than {most} processes and threads"))
    }

    fn too_much_on_disk(&mut self) -> Option<String> {
        let most = self.disk?;
        if self.measured.elapsed() < self.pause {
            return None;
        }
        let begun = Instant::now();
        let mut files = MOST_FILES;
        let mut used: u64 = 0;
        for directory in &self.directories {
            used = used.saturating_add(fs::bytes_below(directory, &mut files));
        }
        self.measured = Instant::now();
        self.pause = (begun.elapsed() * SHARE).max(MEASURED);
        (used > most).then(|| format!("its temporary files took more than {} MB", most / (1 << 20)))
    }
}
