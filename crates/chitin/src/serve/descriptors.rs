//! How many files the server may have open, and how many connections that leaves.

use chitin_server::ServerSettings;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// As many as a server needs. Programs that it starts inherit the limit, and some look at each possible descriptor.
const ENOUGH: u64 = 65_536;
/// What connections leave to turns: transcripts, locks, models, programs.
const KEPT: u64 = 256;

/// Raises the limit of open files as far as the process may, and lets connections not take all of it.
pub(crate) fn prepare(settings: &mut ServerSettings) {
    let limit = raise();
    // Where there are few, turns get most of them.
    let left = limit.saturating_sub(KEPT).max(limit / 4);
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let limits = &mut settings.limits;
    if limits.connections > left {
        limits.connections = left;
        limits.strangers = limits.strangers.min(left.div_ceil(4));
        limits.streams = limits.streams.min(left);
    }
}

/// Raises the limit, and returns what it is then.
fn raise() -> u64 {
    let before = getrlimit(Resource::Nofile);
    let now = before.current.unwrap_or(u64::MAX);
    let wanted = before.maximum.unwrap_or(u64::MAX).min(ENOUGH);
    if wanted <= now {
        return now;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: before.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(_) => now,
    }
}
