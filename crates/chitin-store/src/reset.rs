//! When a session is reset (R20).

use chitin_contract::{FutureTimes, LegacyReset, ResetReasons, ResetRules};
use chitin_protocol::settings::ResetMode;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// The kind of conversation that a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetType {
    /// Between the agent and one other.
    Direct,
    /// Between the agent and many.
    Group,
    /// A thread or topic.
    Thread,
}

impl ResetType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Group => "group",
            Self::Thread => "thread",
        }
    }

    /// Reads the kind as it stands in configuration.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Direct, Self::Group, Self::Thread]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }

    /// Tells the kind from a session's key.
    pub fn of_key(session_key: &str) -> Self {
        let key = session_key.to_lowercase();
        let has = |marker: &str| key.contains(marker);
        if has(":thread:") || has(":topic:") {
            Self::Thread
        } else if has(":group:") || has(":channel:") {
            Self::Group
        } else {
            Self::Direct
        }
    }
}

/// What holds for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetPolicy {
    /// What resets it.
    pub mode: ResetMode,
    /// The hour at which a day begins for sessions.
    pub at_hour: u8,
    /// Minutes of silence; 0 is never.
    pub idle_minutes: Option<u64>,
    /// Whether somebody asked for it.
    pub configured: bool,
}

/// When a session was used, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionTimes {
    /// When it was last changed.
    pub updated_at: i64,
    /// When it began, if that is known. A new day counts from here.
    pub started_at: Option<i64>,
    /// When somebody last spoke, if that is known. Silence counts from here.
    pub last_interaction_at: Option<i64>,
}

/// Whether a session goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionFreshness {
    /// Whether it goes on.
    pub fresh: bool,
    /// When the day began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_reset_at: Option<i64>,
    /// When the silence is too long, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_expires_at: Option<i64>,
    /// Why it is over, by contracts that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale_reason: Option<ResetMode>,
}

/// Reads what holds for a session from the `session` part of the configuration. What is set for its channel outweighs all
/// else; what is set for its kind outweighs what is set for all.
pub fn policy(
    session: &Value,
    kind: ResetType,
    channel: Option<&str>,
    rules: &ResetRules,
) -> ResetPolicy {
    let object = |value: Option<&'_ Value>| value.filter(|value| value.is_object()).cloned();
    let by_channel = channel
        .map(|channel| channel.trim().to_lowercase())
        .and_then(|channel| object(session.get("resetByChannel")?.get(&channel)));
    let is_legacy_read = rules.legacy == LegacyReset::Read;
    let by_types = session.get("resetByType");
    let by_type = match &by_channel {
        Some(_) => None,
        None => object(by_types.and_then(|types| types.get(kind.as_str()))).or_else(|| {
            let is_dm = is_legacy_read && kind == ResetType::Direct;
            object(by_types.filter(|_| is_dm)?.get("dm"))
        }),
    };
    let legacy_minutes = match &by_channel {
        None if is_legacy_read => session.get("idleMinutes").and_then(Value::as_f64),
        None | Some(_) => None,
    };
    let base = by_channel.or_else(|| object(session.get("reset")));
    let field = |name: &str| {
        [&by_type, &base]
            .into_iter()
            .find_map(|part| part.as_ref()?.get(name).filter(|value| !value.is_null()))
    };

    let has_reset = base.is_some() || by_types.is_some_and(Value::is_object);
    let configured = base.is_some() || by_type.is_some() || legacy_minutes.is_some();
    let mode = field("mode")
        .and_then(|mode| serde_json::from_value(mode.clone()).ok())
        .unwrap_or(match configured {
            _ if !has_reset && legacy_minutes.is_some() => ResetMode::Idle,
            true => ResetRules::CONFIGURED_MODE,
            false => rules.default_mode,
        });
    let at_hour = field("atHour")
        .and_then(Value::as_f64)
        .map_or(ResetRules::DEFAULT_HOUR, clamp_hour);
    let idle_minutes = match field("idleMinutes")
        .and_then(Value::as_f64)
        .or(legacy_minutes)
    {
        Some(minutes) => Some(whole(minutes)),
        None if mode == ResetMode::Idle => Some(ResetRules::DEFAULT_IDLE_MINUTES),
        None => None,
    };
    ResetPolicy {
        mode,
        at_hour,
        idle_minutes,
        configured,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value lies between 0 and 23"
)]
fn clamp_hour(hour: f64) -> u8 {
    hour.floor().clamp(0.0, 23.0) as u8
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is clamped when it is cast, and nobody waits for so many minutes"
)]
fn whole(minutes: f64) -> u64 {
    minutes.floor().max(0.0) as u64
}

/// Tells whether a session goes on at a time. A day begins by the clocks of the time zone.
pub fn freshness(
    policy: &ResetPolicy,
    times: &SessionTimes,
    now: Timestamp,
    zone: &TimeZone,
    rules: &ResetRules,
) -> SessionFreshness {
    if policy.mode == ResetMode::None {
        return SessionFreshness {
            fresh: true,
            ..SessionFreshness::default()
        };
    }
    let now_ms = now.as_millisecond();
    let known = |time: i64| match rules.future_times {
        FutureTimes::Believed => Some(time),
        FutureTimes::Unknown => (0..=now_ms).contains(&time).then_some(time),
    };
    let updated_at = known(times.updated_at).unwrap_or_default();
    let started_at = times.started_at.and_then(known).unwrap_or(updated_at);
    let last_interaction_at = times
        .last_interaction_at
        .and_then(known)
        .unwrap_or(started_at);

    let daily_reset_at = (policy.mode == ResetMode::Daily)
        .then(|| day_began(now, zone, policy.at_hour))
        .flatten();
    let idle_expires_at = policy
        .idle_minutes
        .filter(|minutes| *minutes > 0)
        .and_then(|minutes| i64::try_from(minutes).ok()?.checked_mul(60_000))
        .map(|silence| last_interaction_at.saturating_add(silence));
    let daily = daily_reset_at.filter(|began| started_at < *began);
    let idle = idle_expires_at.filter(|expires| now_ms > *expires);
    let stale_reason = match (daily, idle) {
        (Some(daily), Some(idle)) if idle < daily => Some(ResetMode::Idle),
        (Some(_), _) => Some(ResetMode::Daily),
        (None, Some(_)) => Some(ResetMode::Idle),
        (None, None) => None,
    };
    SessionFreshness {
        fresh: stale_reason.is_none(),
        daily_reset_at,
        idle_expires_at,
        stale_reason: match rules.reasons {
            ResetReasons::Said => stale_reason,
            ResetReasons::Unsaid => None,
        },
    }
}

/// Returns when the day began, for sessions.
fn day_began(now: Timestamp, zone: &TimeZone, hour: u8) -> Option<i64> {
    let local = now.to_zoned(zone.clone());
    let hour = i8::try_from(hour).ok()?;
    let at_hour = |date: jiff::civil::Date| {
        let began = date.at(hour, 0, 0, 0).to_zoned(zone.clone()).ok()?;
        Some(began.timestamp())
    };
    let today = at_hour(local.date())?;
    let began = if now < today {
        at_hour(local.date().checked_sub(Span::new().days(1)).ok()?)?
    } else {
        today
    };
    Some(began.as_millisecond())
}
