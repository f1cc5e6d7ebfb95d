//! The hours in which an agent may be woken (R92).

use chitin_protocol::text::trim_js;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// The hours in which an agent may be woken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveHours {
    /// Minutes after midnight; none when nothing usable is said, which is always.
    window: Option<(u16, u16)>,
    /// Whose clock counts.
    pub zone: ClockZone,
}

/// Whose clock counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClockZone {
    /// The user's.
    User,
    /// The machine's.
    Local,
    /// That of a place, by its name; the user's if nobody knows the place.
    Named(String),
}

/// Returns the user's time zone: `agents.defaults.userTimezone`, or the machine's if nobody knows that place.
pub fn user_zone(config: &Value, local: &TimeZone) -> TimeZone {
    let name = config["agents"]["defaults"]["userTimezone"].as_str();
    name.map(trim_js)
        .filter(|name| !name.is_empty())
        .and_then(|name| TimeZone::get(name).ok())
        .unwrap_or_else(|| local.clone())
}

impl ActiveHours {
    /// Reads `activeHours`; nothing there, or times that are none, is always.
    pub fn read(value: &Value) -> Self {
        let start = value["start"]
            .as_str()
            .and_then(|text| minutes(text, false));
        let end = value["end"].as_str().and_then(|text| minutes(text, true));
        let zone = match value["timezone"].as_str().map(trim_js) {
            None | Some("" | "user") => ClockZone::User,
            Some("local") => ClockZone::Local,
            Some(name) => ClockZone::Named(name.to_owned()),
        };
        Self {
            window: start.zip(end),
            zone,
        }
    }

    /// Tells whether an agent may be woken now. The time zone of a place is looked up only if one is named.
    pub fn contain(&self, now: Timestamp, user: &TimeZone, local: &TimeZone) -> bool {
        let Some((start, end)) = self.window else {
            return true;
        };
        if start == end {
            return false;
        }
        let named = match &self.zone {
            ClockZone::User | ClockZone::Local => None,
            ClockZone::Named(name) => TimeZone::get(name).ok(),
        };
        let zone = match (&self.zone, named) {
            (ClockZone::Local, _) => local.clone(),
            (_, Some(zone)) => zone,
            (ClockZone::User | ClockZone::Named(_), None) => user.clone(),
        };
        let clock = zone.to_datetime(now);
        let minute = u16::try_from(i32::from(clock.hour()) * 60 + i32::from(clock.minute()))
            .unwrap_or_default();
        if start < end {
            (start..end).contains(&minute)
        } else {
            minute >= start || minute < end
        }
    }
}

/// Reads `HH:MM` as minutes after midnight; `24:00` can only be an end.
fn minutes(text: &str, is_end: bool) -> Option<u16> {
    if is_end && text == "24:00" {
        return Some(24 * 60);
    }
    let (hour, minute) = text.split_once(':')?;
    let two = |digits: &str| {
        let all = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<u16>().ok()).flatten()
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}
