//! When a beat is left out (R93).

use super::content;
use super::settings::HeartbeatSettings;
use chitin_contract::HeartbeatRules;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use thiserror::Error;

/// Why a beat was left out. The session is then left as it was, its time of last use too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Error)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Skip {
    /// The agent has no heartbeats.
    #[error("heartbeats are off")]
    Disabled,
    /// It is outside of the active hours.
    #[error("it is outside the active hours")]
    QuietHours,
    /// A turn runs or waits, in the session or in the main lane.
    #[error("a turn is running")]
    RequestsInFlight,
    /// HEARTBEAT.md contains no tasks.
    #[error("HEARTBEAT.md contains no tasks")]
    EmptyHeartbeatFile,
    /// The tasks in HEARTBEAT.md are not due yet.
    #[error("no task is due")]
    NoTasksDue,
    /// The channel wants to hear neither alerts nor that all is well.
    #[error("the channel wants no heartbeat messages")]
    AlertsDisabled,
    /// The same words were said not long ago.
    #[error("the same text was sent recently")]
    Duplicate,
}

/// What is known when a beat is due.
#[derive(Debug, Clone, Copy)]
pub struct Beat<'a> {
    /// The time.
    pub now: Timestamp,
    /// The user's time zone.
    pub user_zone: &'a TimeZone,
    /// The machine's time zone.
    pub local_zone: &'a TimeZone,
    /// Whether a turn runs or waits, in the session or in the main lane.
    pub busy: bool,
    /// What HEARTBEAT.md says; none when it is not there.
    pub file: Option<&'a str>,
}

/// Says why a beat is left out before the model is asked; none when it is not.
pub fn skip(settings: &HeartbeatSettings, beat: &Beat<'_>, rules: &HeartbeatRules) -> Option<Skip> {
    if settings.every.is_none() {
        return Some(Skip::Disabled);
    }
    let hours = &settings.active_hours;
    if !hours.contain(beat.now, beat.user_zone, beat.local_zone) {
        return Some(Skip::QuietHours);
    }
    if beat.busy {
        return Some(Skip::RequestsInFlight);
    }
    beat.file
        .is_some_and(|file| content::is_empty(file, rules.comments))
        .then_some(Skip::EmptyHeartbeatFile)
}

/// Tells whether words were said not long ago: the last ones, and how many milliseconds ago.
pub fn is_repeat(words: &str, last: Option<(&str, u64)>) -> bool {
    last.is_some_and(|(last, ago_ms)| {
        !words.trim().is_empty()
            && words.trim() == last.trim()
            && ago_ms < HeartbeatRules::REPEAT_MS
    })
}
