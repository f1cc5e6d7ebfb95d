//! One scheduled job, as the file says it.

use super::schedule::{Schedule, ScheduleKind};
use chitin_protocol::message::Extra;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// The longest id.
const MOST_ID: usize = 64;
/// The longest name.
const MOST_NAME: usize = 200;
/// The longest text for the agent.
const MOST_WORDS: usize = 64 * 1024;

/// One scheduled job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CronEntry {
    /// Its id: letters, digits, `-` and `_`.
    pub id: String,
    /// The agent; none is the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// What people call it.
    #[serde(default)]
    pub name: String,
    /// Whether it happens.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Whether it goes once it happened; by itself, when it happens only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_after_run: Option<bool>,
    /// When it was made, in milliseconds since 1970.
    #[serde(default)]
    pub created_at_ms: i64,
    /// When it was last changed, in milliseconds since 1970.
    #[serde(default)]
    pub updated_at_ms: i64,
    /// When it is due.
    pub schedule: Schedule,
    /// The session: `main`, `isolated` for one of its own each time, or `session:KEY`.
    #[serde(default = "isolated")]
    pub session_target: String,
    /// What the agent is told.
    pub payload: CronPayload,
    /// Where its answer goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// What became of it so far.
    #[serde(default)]
    pub state: CronState,
    /// What else the file says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the agent is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CronPayload {
    /// `agentTurn` or `systemEvent`.
    #[serde(default)]
    pub kind: String,
    /// The words of an `agentTurn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The words of a `systemEvent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The model, if another one than usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// Whether the context is to be small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light_context: Option<bool>,
    /// What else the file says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where an answer goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// `announce` or `none`.
    #[serde(default)]
    pub mode: String,
    /// The surface; `last`, or none, is where the agent was last spoken to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Who or where on it, such as `channel:42`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// What else the file says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What became of an entry so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CronState {
    /// When it is due next, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_run_at_ms: Option<i64>,
    /// When it last happened, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run_at_ms: Option<i64>,
    /// How that ended: `ok` or `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_status: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_duration_ms: Option<u64>,
    /// How many failures there were in a row.
    #[serde(skip_serializing_if = "is_zero")]
    pub consecutive_errors: u32,
    /// What else the file says.
    #[serde(flatten)]
    pub extra: Extra,
}

impl CronEntry {
    /// Says whether it can be carried out.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with it.
    pub fn check(&self, zone: &TimeZone) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if self.id.is_empty() || self.id.len() > MOST_ID || !self.id.chars().all(plain) {
            return Err(format!(
                "`{}` is not a valid id of a scheduled job.",
                self.id
            ));
        }
        if self.name.len() > MOST_NAME {
            return Err(format!("`name` is longer than {MOST_NAME} bytes."));
        }
        let words = self.words();
        if words.is_empty() {
            return Err("`payload` says nothing: give `message`.".to_owned());
        }
        if words.len() > MOST_WORDS {
            return Err(format!("`payload` is longer than {MOST_WORDS} bytes."));
        }
        let target = self.session_target.as_str();
        let named = target
            .strip_prefix("session:")
            .is_some_and(|key| !key.is_empty());
        if !named && !matches!(target, "main" | "isolated") {
            return Err(format!(
                "`sessionTarget` is `{target}`; it must be `main`, `isolated` or `session:KEY`."
            ));
        }
        self.schedule.check(zone)
    }

    /// Returns what the agent is told.
    pub fn words(&self) -> &str {
        let words = self.payload.message.as_ref().or(self.payload.text.as_ref());
        words.map_or("", |words| words.trim())
    }

    /// Returns when it is due: what was reckoned before, or reckoned now for an entry that somebody wrote by hand.
    pub fn due_ms(&self, now_ms: i64, zone: &TimeZone) -> Option<i64> {
        if !self.enabled {
            return None;
        }
        self.state
            .next_run_at_ms
            .or_else(|| self.first_ms(now_ms, zone))
    }

    /// Returns when it is due for the first time. One instant that has passed counts, unless it happened.
    pub fn first_ms(&self, now_ms: i64, zone: &TimeZone) -> Option<i64> {
        if self.schedule.kind == ScheduleKind::At {
            let happened = self.state.last_run_at_ms.is_some();
            return self.schedule.only(zone).filter(|_| !happened);
        }
        self.next_ms(now_ms, zone)
    }

    /// Returns when it is due after now.
    pub fn next_ms(&self, now_ms: i64, zone: &TimeZone) -> Option<i64> {
        let next = self.schedule.next_after(now_ms, self.created_at_ms, zone);
        next.ok().flatten()
    }

    /// Tells whether it goes once it happened.
    pub fn goes_after_run(&self) -> bool {
        let once = self.schedule.kind == ScheduleKind::At;
        self.delete_after_run.unwrap_or(once)
    }
}

const fn yes() -> bool {
    true
}

fn isolated() -> String {
    "isolated".to_owned()
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}
