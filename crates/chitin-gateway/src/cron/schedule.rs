//! When something is due.

use chitin_protocol::message::Extra;
use croner::Cron;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The longest pattern.
const MOST_EXPR: usize = 200;
/// The shortest interval, in milliseconds.
const SHORTEST_MS: i64 = 1_000;
/// The longest interval, in milliseconds: ten years.
const LONGEST_MS: i64 = 10 * 366 * 24 * 60 * 60 * 1_000;

/// When something is due, as the file says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Which of the fields count.
    pub kind: ScheduleKind,
    /// One instant, in ISO form; without an offset it is in `tz`, or in the user's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// An interval in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<i64>,
    /// The instant that intervals are counted from, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_ms: Option<i64>,
    /// A pattern of five or six fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expr: Option<String>,
    /// The time zone of the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// What else the file says.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which kind of schedule it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScheduleKind {
    /// One instant.
    At,
    /// An interval.
    Every,
    /// A pattern.
    Cron,
}

/// A schedule that can be reckoned with.
enum When {
    At(i64),
    Every { every: i64, anchor: i64 },
    Cron { cron: Box<Cron>, zone: TimeZone },
}

impl Schedule {
    /// Says whether it can be reckoned with.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with it.
    pub fn check(&self, zone: &TimeZone) -> Result<(), String> {
        self.read(0, zone).map(|_| ())
    }

    /// Returns the first instant after another at which it is due; none when there is no further one. An interval without an
    /// anchor is counted from `made_ms`.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with the schedule.
    pub fn next_after(
        &self,
        after_ms: i64,
        made_ms: i64,
        zone: &TimeZone,
    ) -> Result<Option<i64>, String> {
        Ok(match self.read(made_ms, zone)? {
            When::At(at) => (at > after_ms).then_some(at),
            When::Every { every, anchor } => {
                let steps = after_ms.saturating_sub(anchor).div_euclid(every);
                let next = anchor.saturating_add(every.saturating_mul(steps.saturating_add(1)));
                (next > after_ms).then_some(next.max(anchor))
            }
            When::Cron { cron, zone } => {
                let Ok(after) = Timestamp::from_millisecond(after_ms) else {
                    return Ok(None);
                };
                let next = cron.find_next_occurrence(&after.to_zoned(zone), false);
                let next = next.ok().map(|next| next.timestamp().as_millisecond());
                next.filter(|next| *next > after_ms)
            }
        })
    }

    /// Returns the one instant of a schedule that has only one.
    pub fn only(&self, zone: &TimeZone) -> Option<i64> {
        match self.read(0, zone) {
            Ok(When::At(at)) => Some(at),
            _ => None,
        }
    }

    fn read(&self, made_ms: i64, zone: &TimeZone) -> Result<When, String> {
        let zone = match self.tz.as_deref().map(str::trim) {
            None | Some("") => zone.clone(),
            Some(name) => {
                TimeZone::get(name).map_err(|_| format!("`{name}` is not a known time zone."))?
            }
        };
        match self.kind {
            ScheduleKind::At => {
                let at = self.at.as_deref().ok_or("A schedule `at` needs `at`.")?;
                Ok(When::At(instant(at, &zone)?))
            }
            ScheduleKind::Every => {
                let every = self.every_ms.ok_or("A schedule `every` needs `everyMs`.")?;
                if !(SHORTEST_MS..=LONGEST_MS).contains(&every) {
                    return Err(format!(
                        "`everyMs` is {every}; it must be from {SHORTEST_MS} to {LONGEST_MS}."
                    ));
                }
                Ok(When::Every {
                    every,
                    anchor: self.anchor_ms.unwrap_or(made_ms),
                })
            }
            ScheduleKind::Cron => {
                let expr = self
                    .expr
                    .as_deref()
                    .ok_or("A schedule `cron` needs `expr`.")?;
                if expr.len() > MOST_EXPR {
                    return Err(format!("`expr` is longer than {MOST_EXPR} bytes."));
                }
                let cron = Cron::from_str(expr)
                    .map_err(|error| format!("`{expr}` is not a valid cron pattern. {error}"))?;
                Ok(When::Cron {
                    cron: Box::new(cron),
                    zone,
                })
            }
        }
    }
}

/// Reads an instant: with an offset, or in a time zone.
fn instant(text: &str, zone: &TimeZone) -> Result<i64, String> {
    let text = text.trim();
    if let Ok(instant) = Timestamp::from_str(text) {
        return Ok(instant.as_millisecond());
    }
    let civil = DateTime::from_str(text).ok();
    let zoned = civil.and_then(|civil| zone.to_ambiguous_zoned(civil).compatible().ok());
    zoned
        .map(|zoned| zoned.timestamp().as_millisecond())
        .ok_or_else(|| format!("`{text}` is not a time; write it like `2026-05-01T09:00:00Z`."))
}
