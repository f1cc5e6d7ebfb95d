//! How long recordings are kept, how much room they may take, and when nothing is recorded because the disk has too little.
//!
//! What is deleted is whole: the trajectory of a session, or what was read of a file for a prompt. The oldest goes first, and never one
//! that a turn is writing.

use crate::{Configuration, Host, Notes};
use chitin_agent::journal::RecordedContents;
use chitin_guard::{
    ClaimKind, DirectoryEntryKind, Root, SpaceFound, SpaceLevel, SpaceLimits, SpaceWatch,
};
use chitin_protocol::settings::TraceSettings;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// How many bytes recordings may have, when nobody says.
const MAX_BYTES: u64 = 512 << 20;
/// How many days they are kept, when nobody says.
const MAX_AGE_DAYS: u32 = 30;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// How long after a sweep there is none.
const SWEEP_EVERY_MS: i64 = 10 * 60 * 1000;
/// Says by its time when there was one.
const STAMP: &str = "logs/trajectory/.swept";
/// More names in one directory are not listed.
const MOST_NAMES: usize = 1_000_000;
const TRAJECTORY: &str = ".trajectory.jsonl";
const POINTER: &str = ".trajectory-path.json";
const MIB: f64 = 1_048_576.0;

/// How long recordings are kept, and how much room they may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingLimits {
    /// In bytes, all together.
    pub max_bytes: u64,
    /// In milliseconds since the last change.
    pub max_age_ms: i64,
}

impl RecordingLimits {
    /// Returns what is configured for all agents.
    pub fn of(configuration: &Configuration) -> Self {
        Self::new(&configuration.layers.settings(None).trace)
    }

    fn new(settings: &TraceSettings) -> Self {
        let days = settings.max_age_days.unwrap_or(MAX_AGE_DAYS);
        Self {
            max_bytes: settings.max_bytes.unwrap_or(MAX_BYTES),
            max_age_ms: i64::from(days) * DAY_MS,
        }
    }
}

/// Recordings of a home.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordingsFound {
    /// How many sessions.
    pub sessions: usize,
    /// How many bytes, with what was read of files.
    pub bytes: u64,
}

/// A file that may be deleted.
struct Candidate {
    path: PathBuf,
    bytes: u64,
    changed_ms: i64,
    is_session: bool,
}

/// Counts what is recorded below a home.
pub fn count(state: &Path) -> RecordingsFound {
    let Ok(home) = Root::open(state) else {
        return RecordingsFound::default();
    };
    total(&candidates(&home))
}

fn total(files: &[Candidate]) -> RecordingsFound {
    RecordingsFound {
        sessions: files.iter().filter(|file| file.is_session).count(),
        bytes: files.iter().map(|file| file.bytes).sum(),
    }
}

/// Deletes what is too old or too much, the oldest first. Returns what was deleted. What cannot be deleted stays.
pub fn sweep(state: &Path, limits: RecordingLimits, now_ms: i64) -> RecordingsFound {
    let Ok(home) = Root::open(state) else {
        return RecordingsFound::default();
    };
    let mut files = candidates(&home);
    files.sort_by(|one, other| (one.changed_ms, &one.path).cmp(&(other.changed_ms, &other.path)));
    let mut bytes = total(&files).bytes;
    let mut gone = Vec::new();
    for file in files {
        let is_old = now_ms.saturating_sub(file.changed_ms) > limits.max_age_ms;
        if !is_old && bytes <= limits.max_bytes {
            break;
        }
        if delete(&home, &file) {
            bytes -= file.bytes;
            gone.push(file);
        }
    }
    total(&gone)
}

/// Deletes a file unless a turn has it, or used it meanwhile.
fn delete(home: &Root, file: &Candidate) -> bool {
    let Ok(Some(_claim)) = home.claim(&file.path, ClaimKind::AloneNow) else {
        return false;
    };
    let now = home.fingerprint(&file.path);
    if now.is_none_or(|now| changed_ms(now.mtime) != file.changed_ms || now.size != file.bytes) {
        return false;
    }
    if home.remove_file(&file.path).is_err() {
        return false;
    }
    let name = file.path.to_string_lossy();
    if let Some(stem) = name.strip_suffix(TRAJECTORY) {
        let _ = home.remove_file(Path::new(&format!("{stem}{POINTER}")));
    }
    true
}

fn changed_ms((seconds, nanoseconds): (i64, i64)) -> i64 {
    seconds
        .saturating_mul(1000)
        .saturating_add(nanoseconds / 1_000_000)
}

fn candidates(home: &Root) -> Vec<Candidate> {
    let logs = Path::new("logs");
    let contents = RecordedContents::directory(logs);
    let mut found = Vec::new();
    let mut look = |directory: &Path, is_wanted: &dyn Fn(&str) -> bool, is_session: bool| {
        let entries = home.survey(directory, MOST_NAMES).unwrap_or_default();
        for entry in entries {
            let is_file = entry.kind == DirectoryEntryKind::File;
            if is_file && is_wanted(&entry.name.to_string_lossy()) {
                found.push(Candidate {
                    path: directory.join(&entry.name),
                    bytes: entry.fingerprint.size,
                    changed_ms: changed_ms(entry.fingerprint.mtime),
                    is_session,
                });
            }
        }
    };
    let is_log = |name: &str| name.ends_with(".jsonl");
    look(contents.parent().unwrap_or(logs), &is_log, true);
    look(&contents, &|_| true, false);
    let agents = home.survey(Path::new("agents"), MOST_NAMES);
    for agent in agents.unwrap_or_default() {
        let sessions = Path::new("agents").join(&agent.name).join("sessions");
        // One of a session that was reset or deleted has a word more at its end.
        let is_trajectory =
            |name: &str| name.ends_with(TRAJECTORY) || name.contains(".trajectory.jsonl.");
        look(&sessions, &is_trajectory, true);
    }
    found
}

/// Watches the disk for recordings, and sweeps them from time to time, whichever process ends a turn then.
pub(crate) struct RecordingKeeper {
    pub(crate) space: Arc<SpaceWatch>,
    state: PathBuf,
    limits: RecordingLimits,
    /// When this process looked last whether it is time to sweep.
    looked_ms: AtomicI64,
}

impl RecordingKeeper {
    /// Keeps the recordings of a home, and notes when they stop or begin again because of the disk.
    pub(crate) fn new(state: &Path, configuration: &Configuration, notes: &Notes) -> Self {
        let notes = notes.clone();
        let place = state.display().to_string();
        let tell = move |found| notes.note(&said(&place, found));
        Self {
            space: Arc::new(SpaceWatch::new(state, space_limits(configuration), tell)),
            state: state.to_path_buf(),
            limits: RecordingLimits::of(configuration),
            looked_ms: AtomicI64::new(0),
        }
    }

    /// Tells whether turns are recorded now.
    pub(crate) fn has_room(&self) -> bool {
        self.space.look(Host::now_ms()).has_room_for_recordings()
    }

    /// Sweeps if it is time.
    pub(crate) fn sweep_in_time(&self) {
        let now_ms = Host::now_ms();
        let looked = self.looked_ms.load(Ordering::Relaxed);
        if (looked..looked.saturating_add(SWEEP_EVERY_MS)).contains(&now_ms) {
            return;
        }
        self.looked_ms.store(now_ms, Ordering::Relaxed);
        chitin_agent::blocking(|| self.sweep_unless_swept(now_ms));
    }

    fn sweep_unless_swept(&self, now_ms: i64) {
        let Ok(home) = Root::open(&self.state) else {
            return;
        };
        let stamp = Path::new(STAMP);
        let swept = home.fingerprint(stamp).map(|found| changed_ms(found.mtime));
        if swept.is_some_and(|swept| (swept..swept + SWEEP_EVERY_MS).contains(&now_ms)) {
            return;
        }
        let directory = stamp.parent().unwrap_or(stamp);
        if home.kind(directory) == Some(DirectoryEntryKind::Directory) {
            // Whoever cannot leave a stamp sweeps all the same: that may be what makes room.
            let _ = home.replace_private(stamp, b"");
        }
        sweep(&self.state, self.limits, now_ms);
    }
}

/// Returns what stops when the disk has little room, as configured for all agents.
fn space_limits(configuration: &Configuration) -> SpaceLimits {
    SpaceLimits {
        recordings: configuration.layers.settings(None).trace.min_free_bytes,
        intake: configuration.server.min_free_bytes,
    }
}

/// Says how much room is left and what that means.
fn said(place: &str, found: SpaceFound) -> String {
    let free = mib(found.disk.map_or(0, |disk| disk.free));
    match found.level {
        SpaceLevel::Enough => {
            format!("The disk of `{place}` has room again ({free} free): turns are recorded.")
        }
        SpaceLevel::Low => format!(
            "The disk of `{place}` has {free} free, less than {}: turns are not recorded until there is more.",
            mib(found.recordings)
        ),
        SpaceLevel::Reserve => format!(
            "The disk of `{place}` has {free} free, less than {}: no new messages are accepted until there is more. What is left is for those that were accepted.",
            mib(found.intake)
        ),
    }
}

/// Writes a number of bytes for people.
#[expect(
    clippy::cast_precision_loss,
    reason = "one digit after the point is shown"
)]
pub(crate) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / MIB)
}

/// Looks at the disk of a home now.
pub(crate) fn look(state: &Path, configuration: &Configuration) -> SpaceFound {
    SpaceWatch::new(state, space_limits(configuration), |_| {}).look(Host::now_ms())
}
