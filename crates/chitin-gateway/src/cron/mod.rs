//! Schedules: turns that a clock begins.
//!
//! Entries are kept in `cron/jobs.json` beneath the state directory, in OpenClaw's form; fields that nobody here knows are
//! kept. [`CronFile`] is the door to it, for the gateway, its `cron` tool and the command line alike. A schedule says one
//! instant ([`Schedule`] of kind `at`), an interval (`every`) or a pattern (`cron`). A run that was missed while nobody was
//! there happens once, later; it has the name of the instant at which it was due, so that it never happens twice.

mod entry;
mod error;
mod file;
mod run;
mod schedule;
pub mod tool;

pub use entry::{CronEntry, CronPayload, CronState, Delivery};
pub use error::CronError;
pub use file::{CronDocument, CronFile, DIRECTORY, MOST_BYTES, MOST_ENTRIES};
pub use run::CronReport;
pub(crate) use run::{Schedules, blocking};
pub use schedule::{Schedule, ScheduleKind};

/// How long to wait after so many failures in a row, in milliseconds; the last holds for all further ones.
const BACKOFF_MS: [i64; 5] = [30_000, 60_000, 300_000, 900_000, 3_600_000];

/// Returns the earliest time of the next run after failures in a row.
pub fn not_before(failures: u32, now_ms: i64) -> i64 {
    let index = (failures as usize).min(BACKOFF_MS.len());
    match index.checked_sub(1) {
        Some(index) => now_ms.saturating_add(BACKOFF_MS[index]),
        None => now_ms,
    }
}

/// Returns the name of a run: the same for the same entry and the same instant.
pub fn run_id(entry_id: &str, due_ms: i64) -> String {
    format!("cron:{entry_id}:{due_ms}")
}

/// Returns the entry that a run is of.
pub fn entry_of(run_id: &str) -> Option<&str> {
    let (entry, _) = run_id.strip_prefix("cron:")?.rsplit_once(':')?;
    Some(entry)
}
