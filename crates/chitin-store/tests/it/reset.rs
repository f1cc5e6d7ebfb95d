//! When a session is reset: by the clocks of the place, by silence, by what is set for its kind and channel.

use chitin_contract::ResetRules;
use chitin_protocol::settings::ResetMode;
use chitin_store::reset::{ResetPolicy, ResetType, SessionTimes, freshness, policy};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

const FOUR: &ResetRules = &ResetRules::OPENCLAW_2026_4;
const NINE: &ResetRules = &ResetRules::OPENCLAW_2026_9;

fn of(session: &Value, kind: ResetType, rules: &ResetRules) -> ResetPolicy {
    policy(session, kind, Some("Slack "), rules)
}

fn began(now: &str, zone: &str, hour: u8) -> String {
    let policy = ResetPolicy {
        mode: ResetMode::Daily,
        at_hour: hour,
        idle_minutes: None,
        configured: true,
    };
    let now: Timestamp = now.parse().unwrap();
    let zone = TimeZone::get(zone).unwrap();
    let fresh = freshness(&policy, &SessionTimes::default(), now, &zone, FOUR);
    Timestamp::from_millisecond(fresh.daily_reset_at.unwrap())
        .unwrap()
        .to_string()
}

#[test]
fn a_day_begins_by_the_clocks_of_the_place() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    assert_eq!(
        began("2026-07-01T03:59:59Z", "UTC", 4),
        "2026-06-30T04:00:00Z"
    );
    assert_eq!(
        began("2026-07-01T04:00:00Z", "UTC", 4),
        "2026-07-01T04:00:00Z"
    );
    assert_eq!(
        began("2026-07-01T03:00:00Z", "Europe/Paris", 4),
        "2026-07-01T02:00:00Z"
    );
    assert_eq!(
        began("2026-07-01T03:00:00Z", "America/New_York", 4),
        "2026-06-30T08:00:00Z"
    );
    // The hour that is left out in spring begins when the clocks were put forward.
    assert_eq!(
        began("2026-03-29T10:00:00Z", "Europe/Paris", 2),
        "2026-03-29T01:00:00Z"
    );
    // The hour that comes twice in autumn begins the first time.
    assert_eq!(
        began("2026-10-25T10:00:00Z", "Europe/Paris", 2),
        "2026-10-25T00:00:00Z"
    );
}

#[test]
fn what_is_set_for_a_channel_outweighs_the_kind_and_that_outweighs_all() {
    let session = json!({
        "reset": {"mode": "daily", "atHour": 6, "idleMinutes": 10},
        "resetByType": {"group": {"mode": "idle"}, "thread": {"atHour": -3}},
        "resetByChannel": {"slack": {"idleMinutes": 5.9}},
        "idleMinutes": 99,
    });
    let by_channel = ResetPolicy {
        mode: ResetMode::Daily,
        at_hour: 4,
        idle_minutes: Some(5),
        configured: true,
    };
    assert_eq!(of(&session, ResetType::Group, FOUR), by_channel);
    let elsewhere = |kind| policy(&session, kind, None, FOUR);
    let group = elsewhere(ResetType::Group);
    assert_eq!(
        (group.mode, group.at_hour, group.idle_minutes),
        (ResetMode::Idle, 6, Some(10))
    );
    let thread = elsewhere(ResetType::Thread);
    assert_eq!(
        (thread.mode, thread.at_hour, thread.idle_minutes),
        (ResetMode::Daily, 0, Some(10))
    );
}

#[test]
fn settings_of_old_count_where_the_contract_reads_them() {
    let session = json!({"idleMinutes": 30});
    let four = of(&session, ResetType::Direct, FOUR);
    assert_eq!((four.mode, four.idle_minutes), (ResetMode::Idle, Some(30)));
    let nine = of(&session, ResetType::Direct, NINE);
    assert_eq!(
        (nine.mode, nine.idle_minutes, nine.configured),
        (ResetMode::None, None, false)
    );
}

#[test]
fn silence_of_no_minutes_is_never_too_long_and_odd_settings_are_passed_over() {
    let zone = TimeZone::UTC;
    let now = Timestamp::from_millisecond(10_i64.pow(13)).unwrap();
    let idle = of(
        &json!({"reset": {"mode": "idle", "idleMinutes": 0}}),
        ResetType::Direct,
        FOUR,
    );
    assert!(freshness(&idle, &SessionTimes::default(), now, &zone, FOUR).fresh);
    for odd in [
        json!(7),
        json!({"reset": 1}),
        json!({"reset": {"mode": 3, "atHour": "x", "idleMinutes": "y"}}),
    ] {
        let policy = of(&odd, ResetType::Direct, FOUR);
        assert_eq!(
            (policy.mode, policy.at_hour, policy.idle_minutes),
            (ResetMode::Daily, 4, None)
        );
    }
}

#[test]
fn the_kind_is_told_from_the_key() {
    for (key, kind) in [
        ("agent:main:main", ResetType::Direct),
        ("agent:main:slack:channel:C1", ResetType::Group),
        ("agent:main:slack:channel:c1:THREAD:9", ResetType::Thread),
        ("agent:main:telegram:group:1:topic:7", ResetType::Thread),
    ] {
        assert_eq!(ResetType::of_key(key), kind, "{key}");
    }
}
