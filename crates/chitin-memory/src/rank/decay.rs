//! Older notes count less (M32).

use super::{Hit, ScorePart};
use chitin_contract::{DatedNames, DecayRules};
use jiff::civil::Date;

const DAY_MS: f64 = 86_400_000.0;

/// Lets age count. `half_life_days` is what is configured.
pub fn decay(hits: &mut [Hit], now_ms: i64, half_life_days: f64, rules: &DecayRules) {
    for hit in hits {
        let born = born_ms(&hit.piece.path, hit.piece.modified_ms, rules);
        let Some(born) = born else { continue };
        hit.multiply(
            ScorePart::Decay,
            kept(now_ms, born, half_life_days, rules.floor),
        );
    }
}

/// Returns the share of a score that is left.
#[expect(
    clippy::cast_precision_loss,
    reason = "a millisecond more or less is nothing in days"
)]
fn kept(now_ms: i64, born_ms: i64, half_life_days: f64, floor: f64) -> f64 {
    if !half_life_days.is_finite() || half_life_days <= 0.0 {
        return 1.0;
    }
    let age_days = now_ms.saturating_sub(born_ms).max(0) as f64 / DAY_MS;
    let left = (-std::f64::consts::LN_2 * age_days / half_life_days).exp();
    floor + (1.0 - floor) * left
}

/// Returns when a file is from: what its name says, or when it was last changed. Nothing if it never ages.
pub fn born_ms(path: &str, modified_ms: i64, rules: &DecayRules) -> Option<i64> {
    let path = path.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    if let Some(day) = day_of(path, rules.dates) {
        let start = day.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        return Some(start.timestamp().as_millisecond());
    }
    // A name in the form of a day that no calendar has is still no lasting note.
    let lasts = path.starts_with("memory/") && named_day(path, rules.dates).is_none();
    if rules.ageless.contains(&path) || lasts {
        return None;
    }
    (modified_ms > 0).then_some(modified_ms)
}

/// Returns the day that a file's name says.
pub fn day_of(path: &str, names: DatedNames) -> Option<Date> {
    let day = named_day(path, names)?;
    let number = |range: std::ops::Range<usize>| day.get(range)?.parse::<i16>().ok();
    let (month, date) = (number(5..7)?, number(8..10)?);
    // The year 0 and the like are read as years of the last century by other programs, which then do not find them again.
    let year = number(0..4).filter(|year| *year >= 100)?;
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(date).ok()?).ok()
}

/// Returns the part of a file's name that has the form of a day, whether or not there is such a day.
fn named_day(path: &str, names: DatedNames) -> Option<&str> {
    let (folders, name) = path.rsplit_once('/')?;
    let stem = name.strip_suffix(".md")?;
    let (day, rest) = (stem.get(..10)?, stem.get(10..)?);
    let is_note = match names {
        DatedNames::DailyNotes => folders.rsplit('/').next() == Some("memory") && rest.is_empty(),
        DatedNames::AnyDepthAndWords => {
            folders.split('/').any(|folder| folder == "memory")
                && (rest.is_empty() || (rest.len() > 1 && rest.starts_with('-')))
        }
    };
    (is_note && has_shape_of_day(day)).then_some(day)
}

fn has_shape_of_day(day: &str) -> bool {
    day.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}
