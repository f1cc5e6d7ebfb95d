//! Schedules: the user's, and those that the program makes for itself (H50, H51, H52).

use crate::compat;
use crate::database::{Database, Row, Rows};
use crate::json::{text, whole};
use crate::problem::{Problems, sentence};
use crate::sessions::StoredIn;
use crate::walk::reading;
use chitin_guard::Root;
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::Path;

/// The largest file of schedules that is read.
const MAX_BYTES: u64 = 64 << 20;
/// How many jobs a home may have.
const MAX_JOBS: u64 = 100_000;

/// A job that runs at its times.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledJob {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// The agent that runs it, if one is named.
    pub agent: Option<String>,
    /// When it runs: `every`, `cron` or `at`, with their fields as they are stored.
    pub schedule: Value,
    /// In which session.
    pub session_target: Option<String>,
    /// What it does: `systemEvent`, `agentTurn`, `heartbeat` or `command`.
    pub payload_kind: Option<String>,
    /// The text that it gives to the agent.
    pub text: Option<String>,
    /// Where the answer goes.
    pub delivery: Option<Value>,
    /// Whether it is deleted once it ran.
    pub delete_after_run: bool,
    /// When it runs next, in milliseconds since 1970.
    pub next_run_at_ms: Option<i64>,
    /// What the program declared it as, if it is none of the user's.
    pub managed: Option<String>,
    /// Where it is kept.
    pub from: StoredIn,
}

impl ScheduledJob {
    /// Tells whether a user made it.
    pub const fn is_of_the_user(&self) -> bool {
        self.managed.is_none()
    }

    fn of(job: &Value, state: &Value, from: StoredIn) -> Option<Self> {
        let payload = &job["payload"];
        Some(Self {
            id: text(job, "id")?,
            name: text(job, "name"),
            enabled: job["enabled"].as_bool().unwrap_or(true),
            agent: text(job, "agentId"),
            schedule: job["schedule"].clone(),
            session_target: text(job, "sessionTarget"),
            payload_kind: text(payload, "kind"),
            text: text(payload, "text").or_else(|| text(payload, "message")),
            delivery: job
                .get("delivery")
                .filter(|value| !value.is_null())
                .cloned(),
            delete_after_run: job["deleteAfterRun"].as_bool().unwrap_or(false),
            next_run_at_ms: whole(state, "nextRunAtMs"),
            managed: text(job, "declarationKey"),
            from,
        })
    }

    /// Reads a row. The columns mirror the most important fields, should the definition be damaged.
    fn of_row(row: &Row<'_>) -> Option<Self> {
        let id = row.text(0)?;
        let mut job = row.json(1).unwrap_or_default();
        if !job.is_object() {
            job = serde_json::json!({});
        }
        job["id"] = id.into();
        let state = row.json(2).unwrap_or_default();
        let mut found = Self::of(&job, &state, StoredIn::Db)?;
        if let Some(enabled) = row.whole(3) {
            found.enabled = enabled != 0;
        }
        found.name = found.name.or_else(|| row.text(4).map(str::to_owned));
        found.agent = found.agent.or_else(|| row.text(5).map(str::to_owned));
        found.managed = row.text(6).map(str::to_owned).or(found.managed);
        found.payload_kind = found
            .payload_kind
            .or_else(|| row.text(7).map(str::to_owned));
        Some(found)
    }
}

/// Returns every job: those of the database in their order, then those that only the file has.
pub(crate) fn jobs(
    state: &Root,
    shared: Option<&Database>,
    problems: &mut Problems,
) -> Vec<ScheduledJob> {
    let mut found = Vec::new();
    if let Some(database) = shared {
        in_database(database, &mut found, problems);
    }
    let definitions = file(state, Path::new(compat::CRON), problems);
    let states = file(state, Path::new(compat::CRON_STATE), problems);
    for job in definitions["jobs"].as_array().into_iter().flatten() {
        let id = text(job, "id").unwrap_or_default();
        let known = &states["jobs"][&id]["state"];
        let run_state = if known.is_null() {
            &job["state"]
        } else {
            known
        };
        match ScheduledJob::of(job, run_state, StoredIn::File) {
            Some(job) if found.iter().any(|known| known.id == job.id) => {}
            Some(job) => found.push(job),
            None => problems.say(compat::CRON, "A job has no id."),
        }
    }
    found
}

fn in_database(database: &Database, found: &mut Vec<ScheduledJob>, problems: &mut Problems) {
    const TABLE: &str = "cron_jobs";
    let wanted = Rows {
        table: TABLE,
        needed: &["job_id", "job_json"],
        wanted: &[
            "state_json",
            "enabled",
            "name",
            "agent_id",
            "declaration_key",
            "payload_kind",
        ],
        of: None,
        order: &["sort_order", "job_id"],
        most: MAX_JOBS,
    };
    let mut odd = Vec::new();
    let outcome = database.rows(&wanted, &mut |row| {
        if row.json(1).is_none() {
            odd.push(row.text(0).unwrap_or("?").to_owned());
        }
        found.extend(ScheduledJob::of_row(row));
        ControlFlow::Continue(())
    });
    if let Err(problem) = outcome {
        problems.add(problem);
    }
    for id in odd {
        let message = format!("The definition of the job `{id}` cannot be read.");
        problems.say(format!("{} {TABLE}", database.place()), message);
    }
}

fn file(state: &Root, path: &Path, problems: &mut Problems) -> Value {
    let outcome = match state.read(path, &reading(MAX_BYTES)) {
        Ok(read) => serde_json::from_slice(&read.bytes).map_err(|_| "It is no JSON.".to_owned()),
        Err(error) if error.is_missing() => return Value::Null,
        Err(error) => Err(sentence(&error)),
    };
    outcome.unwrap_or_else(|message| {
        problems.say(path, message);
        Value::Null
    })
}
