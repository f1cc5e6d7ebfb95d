//! The hook of one release that now and then puts another persona in place of `SOUL.md` (W58).
//!
//! Chance and clock are the caller's: this module only says what follows from them.

use crate::load::decode;
use crate::snapshot::{Record, RecordState};
use chitin_config::heartbeat::parse_duration;
use chitin_contract::Contract;
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::session_key;
use chitin_protocol::text::{is_blank_js, trim_js};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// What OpenClaw calls things here.
mod compat {
    pub(super) const HOOK: &str = "soul-evil";
    pub(super) const DEFAULT_FILE: &str = "SOUL_EVIL.md";
    pub(super) const SOUL: &str = "SOUL.md";
}

const MINUTE: f64 = 60_000.0;
const DAY_MINUTES: f64 = 24.0 * 60.0;

/// What the moment decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwapMoment {
    /// A number from 0 to 1, 1 excluded.
    pub dice: f64,
    /// Minutes since midnight in the user's time zone.
    pub minutes: u32,
}

/// Tells whether the hook is configured, so that chance and clock matter.
pub fn is_configured(config: &Value, contract: &Contract) -> bool {
    contract.loading.persona_swap
        && config["hooks"]["internal"]["entries"]
            .get(compat::HOOK)
            .is_some_and(|hook| hook["enabled"] != Value::Bool(false))
}

/// Returns the record that takes the place of `SOUL.md`, when the hook says so.
pub fn swapped(
    config: &Value,
    contract: &Contract,
    session_key: Option<&str>,
    root: &Root,
    policy: &ReadPolicy,
    records: &[Record],
    moment: SwapMoment,
) -> Option<Record> {
    if !is_configured(config, contract) {
        return None;
    }
    let hook = config["hooks"]["internal"]["entries"].get(compat::HOOK)?;
    if !is_due(hook, moment) {
        return None;
    }
    if session_key.is_some_and(|key| session_key::is_subagent(key, contract.session_keys)) {
        return None;
    }
    let soul = records
        .iter()
        .find(|record| &*record.name == compat::SOUL)?;
    let named = hook["file"].as_str().map(trim_js).unwrap_or_default();
    let file = if named.is_empty() {
        compat::DEFAULT_FILE
    } else {
        named
    };
    let content = decode(root.read(Path::new(file), policy).ok()?);
    if is_blank_js(&content.text) {
        return None;
    }
    Some(Record {
        state: RecordState::Present(Arc::new(content)),
        ..soul.clone()
    })
}

/// An open window decides; without one, chance does.
fn is_due(hook: &Value, moment: SwapMoment) -> bool {
    is_window_open(&hook["purge"], moment.minutes)
        || hook["chance"]
            .as_f64()
            .is_some_and(|chance| moment.dice < chance.clamp(0.0, 1.0))
}

fn is_window_open(purge: &Value, now: u32) -> bool {
    let start = purge["at"].as_str().and_then(minutes_of_day);
    let duration = &purge["duration"];
    let length = duration
        .as_str()
        .and_then(|text| parse_duration(text, MINUTE))
        .or_else(|| Some(duration.as_f64()? * MINUTE));
    let (Some(start), Some(length)) = (start, length) else {
        return false;
    };
    let length = length / MINUTE;
    let since = (f64::from(now) - f64::from(start)).rem_euclid(DAY_MINUTES);
    length >= DAY_MINUTES || (length > 0.0 && since < length)
}

/// Reads `7:05` or `07:05`.
fn minutes_of_day(text: &str) -> Option<u32> {
    let (hours, minutes) = trim_js(text).split_once(':')?;
    let number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        let digits = lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (hours, minutes) = (number(hours, 1..=2)?, number(minutes, 2..=2)?);
    (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
}
