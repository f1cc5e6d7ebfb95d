//! Time windows: hours of the day, on working days, in a time zone.

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use serde::{Serialize, Serializer};
use std::fmt::Write;
use thiserror::Error;

/// The days of a window, which the file cannot change.
pub const WORKING_DAYS: [Weekday; 5] = [
    Weekday::Monday,
    Weekday::Tuesday,
    Weekday::Wednesday,
    Weekday::Thursday,
    Weekday::Friday,
];

/// Identifiers that the system's time zone data has and Java does not.
const UNKNOWN_TO_JAVA: [&str; 7] = [
    "EST",
    "MST",
    "HST",
    "ROC",
    "Factory",
    "posixrules",
    "localtime",
];
/// The largest offset from UTC, in seconds.
const MAX_OFFSET: i32 = 18 * 3600;

/// Hours of the day on working days. The start is inside, the end is not; a start after the end wraps midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimeWindow {
    /// When it opens.
    #[serde(serialize_with = "short")]
    pub start: Time,
    /// When it closes.
    #[serde(serialize_with = "short")]
    pub end: Time,
    /// The zone in which hours and days are read.
    pub zone: JavaZone,
}

/// A time zone with the name that Java would give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaZone {
    name: String,
    rules: TimeZone,
}

/// Why a text is no time window.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeWindowError {
    /// It does not have the form.
    #[error("two times with `-` between them are needed")]
    Form,
    /// A time is not one.
    #[error("`{0}` is not a time of day")]
    Time(String),
    /// Start and end are the same.
    #[error("start and end are the same")]
    Empty,
    /// Nobody knows the zone.
    #[error("`{0}` is not a time zone")]
    Zone(String),
}

impl TimeWindow {
    /// Reads `HH:MM-HH:MM`, followed by a time zone or by nothing, which means UTC.
    pub fn parse(text: &str) -> Result<Self, TimeWindowError> {
        let mut words = text.split_ascii_whitespace();
        let hours = words.next().ok_or(TimeWindowError::Form)?;
        let zone = JavaZone::parse(words.next().unwrap_or("UTC"))?;
        if words.next().is_some() {
            return Err(TimeWindowError::Form);
        }
        let (start, end) = hours.split_once('-').ok_or(TimeWindowError::Form)?;
        let (start, end) = (time(start)?, time(end)?);
        if start == end {
            return Err(TimeWindowError::Empty);
        }
        Ok(Self { start, end, zone })
    }

    /// Tells whether an instant lies inside.
    pub fn contains(&self, instant: Timestamp) -> bool {
        let local = instant.to_zoned(self.zone.rules.clone());
        let time = local.time();
        let is_hour = if self.start < self.end {
            self.start <= time && time < self.end
        } else {
            self.start <= time || time < self.end
        };
        is_hour && WORKING_DAYS.contains(&local.weekday())
    }

    /// Returns a time of the window as Java writes it: seconds only when there are any.
    pub fn spelled(time: Time) -> String {
        let mut text = format!("{:02}:{:02}", time.hour(), time.minute());
        let (second, nanosecond) = (time.second(), time.subsec_nanosecond());
        if second != 0 || nanosecond != 0 {
            let _ = write!(text, ":{second:02}");
        }
        if nanosecond != 0 {
            let digits = format!("{nanosecond:09}");
            let kept = digits.trim_end_matches('0').len().div_ceil(3) * 3;
            text.push('.');
            text.push_str(&digits[..kept]);
        }
        text
    }
}

fn short<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&TimeWindow::spelled(*time))
}

/// Reads `HH:MM`, `HH:MM:SS` or `HH:MM:SS.n`, every part with two digits.
fn time(text: &str) -> Result<Time, TimeWindowError> {
    let fail = || TimeWindowError::Time(text.to_owned());
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, fraction),
        None => (text, ""),
    };
    let parts: Option<Vec<i8>> = clock.split(':').map(two_digits).collect();
    let (hour, minute, second) = match parts.as_deref() {
        Some([hour, minute]) if fraction.is_empty() && !text.ends_with('.') => (*hour, *minute, 0),
        Some([hour, minute, second]) => (*hour, *minute, *second),
        _ => return Err(fail()),
    };
    if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return Err(fail());
    }
    let nanosecond = format!("{fraction:0<9}").parse().map_err(|_| fail())?;
    Time::new(hour, minute, second, nanosecond).map_err(|_| fail())
}

fn two_digits(text: &str) -> Option<i8> {
    if text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

impl JavaZone {
    /// Reads an identifier as Java does: `Z`, an offset, `UTC`, `GMT` or `UT` with or without an offset, or a region.
    pub fn parse(text: &str) -> Result<Self, TimeWindowError> {
        let unknown = || TimeWindowError::Zone(text.to_owned());
        if text == "Z" || text.starts_with(['+', '-']) {
            let seconds = if text == "Z" {
                0
            } else {
                offset(text).ok_or_else(unknown)?
            };
            return Self::fixed(spelled_offset(seconds, "Z"), seconds).ok_or_else(unknown);
        }
        for prefix in ["UTC", "GMT", "UT"] {
            match text.strip_prefix(prefix) {
                Some("") => return Self::fixed(text.to_owned(), 0).ok_or_else(unknown),
                Some(rest) if rest.starts_with(['+', '-']) => {
                    let seconds = offset(rest).ok_or_else(unknown)?;
                    let name = format!("{prefix}{}", spelled_offset(seconds, ""));
                    return Self::fixed(name, seconds).ok_or_else(unknown);
                }
                _ => {}
            }
        }
        let rules = TimeZone::get(text).map_err(|_| unknown())?;
        // Names are looked up in any letter case here, and in theirs only over there.
        if rules.iana_name() != Some(text) || UNKNOWN_TO_JAVA.contains(&text) {
            return Err(unknown());
        }
        Ok(Self {
            name: text.to_owned(),
            rules,
        })
    }

    /// Returns the identifier.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn fixed(name: String, seconds: i32) -> Option<Self> {
        let offset = Offset::from_seconds(seconds).ok()?;
        Some(Self {
            name,
            rules: TimeZone::fixed(offset),
        })
    }
}

impl Serialize for JavaZone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

/// Reads `±h`, `±hh`, `±hh:mm`, `±hhmm`, `±hh:mm:ss` or `±hhmmss` as seconds.
fn offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let parts: Vec<&str> = match (digits.len(), digits.contains(':')) {
        (1 | 2, false) => vec![digits],
        (4, false) => vec![digits.get(..2)?, digits.get(2..)?],
        (6, false) => vec![digits.get(..2)?, digits.get(2..4)?, digits.get(4..)?],
        (5 | 8, true) => digits.split(':').collect(),
        _ => return None,
    };
    let mut seconds = 0;
    for (at, part) in parts.iter().enumerate() {
        if !part.bytes().all(|b| b.is_ascii_digit()) || (digits.len() > 1 && part.len() != 2) {
            return None;
        }
        let value: i32 = part.parse().ok()?;
        let (unit, most) = *[(3600, 18), (60, 59), (1, 59)].get(at)?;
        if value > most {
            return None;
        }
        seconds += value * unit;
    }
    (seconds <= MAX_OFFSET).then_some(sign * seconds)
}

fn spelled_offset(seconds: i32, zero: &str) -> String {
    if seconds == 0 {
        return zero.to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let total = seconds.abs();
    let mut text = format!("{sign}{:02}:{:02}", total / 3600, total / 60 % 60);
    if total % 60 != 0 {
        let _ = write!(text, ":{:02}", total % 60);
    }
    text
}
