//! Turns that nobody typed.

use chitin_contract::{CANONICAL, HeartbeatComments, OPENCLAW_2026_9};
use chitin_gateway::heartbeat::{
    self, ActiveHours, Beat, DEFAULT_PROMPT, HeartbeatSettings, Skip, beating, is_repeat, skip,
};
use chitin_protocol::agent_id::AgentId;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

fn main_agent() -> AgentId {
    AgentId::normalize("main")
}

#[test]
fn only_the_default_agent_beats_until_another_speaks_of_it() {
    let ids = |config: &Value| -> Vec<String> {
        let agents = beating(config, &CANONICAL, || Some(main_agent()));
        agents.iter().map(ToString::to_string).collect()
    };
    assert_eq!(ids(&json!({})), ["main"]);
    let several = json!({"agents": {"list": [{"id": "a"}, {"id": "b", "heartbeat": {}}, {"id": "c", "heartbeat": {"every": "1h"}}]}});
    assert_eq!(ids(&several), ["b", "c"]);
}

#[test]
fn an_agents_own_word_comes_before_everybodys() {
    let config = json!({"agents": {
        "defaults": {"heartbeat": {"every": "1h", "target": "last", "ackMaxChars": 10, "model": "x/y", "activeHours": {"start": "08:00", "end": "20:00"}}},
        "list": [{"id": "ops", "heartbeat": {"every": "15", "prompt": " Look. ", "lightContext": true, "ackMaxChars": -4}}],
    }});
    let own = HeartbeatSettings::read(&config, &AgentId::normalize("ops"), &CANONICAL);
    assert_eq!(own.every, Some(Duration::from_mins(15)));
    assert_eq!(
        (own.target.as_str(), own.prompt.as_str()),
        ("last", "Look.")
    );
    assert_eq!((own.ack_max_chars, own.light_context), (0, true));
    assert_eq!(own.model.as_deref(), Some("x/y"));
    let plain = HeartbeatSettings::read(&json!({}), &main_agent(), &CANONICAL);
    assert_eq!(plain.every, Some(Duration::from_mins(30)));
    assert_eq!(plain.prompt, DEFAULT_PROMPT);
    assert_eq!(plain.ack_max_chars, 300);
    assert!(!plain.is_heard());
}

#[test]
fn what_is_no_duration_is_never() {
    for every in [
        json!("0m"),
        json!(""),
        json!("  "),
        json!("soon"),
        json!(0),
        json!("-5m"),
        json!(false),
    ] {
        let config = json!({"agents": {"defaults": {"heartbeat": {"every": every}}}});
        let settings = HeartbeatSettings::read(&config, &main_agent(), &CANONICAL);
        assert_eq!(settings.every, None, "{every}");
    }
}

#[test]
fn a_file_without_a_wish_is_empty_and_any_prose_is_a_wish() {
    use HeartbeatComments::{Content, Nothing};
    for empty in [
        "",
        " \n\t",
        "# Title\n##",
        "-\n* [ ]\n+ [x] \n- []",
        "```\n```md\n# x\n```",
    ] {
        assert!(heartbeat::is_empty(empty, Content), "{empty:?}");
    }
    for wish in [
        "#hash",
        "- do it",
        "- [ ] do it",
        "``` and more",
        "- [xx]",
        "a\n#",
    ] {
        assert!(!heartbeat::is_empty(wish, Nothing), "{wish:?}");
    }
    for comment in [
        "<!-- a -->",
        "<!--\n- do it\n-->\n# x",
        "<!-- a --> <!-- b -->",
    ] {
        assert!(heartbeat::is_empty(comment, Nothing), "{comment:?}");
        assert!(!heartbeat::is_empty(comment, Content), "{comment:?}");
    }
    for open in ["<!-- never closed", "do <!-- a -->", "<!-- a -->\n- it"] {
        assert!(!heartbeat::is_empty(open, Nothing), "{open:?}");
    }
}

#[test]
fn hours_follow_the_clock_of_the_place_that_is_named() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let toronto = TimeZone::get("America/Toronto").unwrap();
    let active = |hours: Value, now: &str| {
        ActiveHours::read(&hours).contain(now.parse().unwrap(), &toronto, &TimeZone::UTC)
    };
    let noon = "2026-04-23T12:00:00Z";
    assert!(active(json!({"start": "08:00", "end": "08:01"}), noon));
    assert!(active(
        json!({"start": "12:00", "end": "13:00", "timezone": "local"}),
        noon
    ));
    assert!(active(
        json!({"start": "14:00", "end": "15:00", "timezone": "Europe/Berlin"}),
        noon
    ));
    assert!(active(
        json!({"start": "08:00", "end": "09:00", "timezone": "No/Where"}),
        noon
    ));
    assert!(!active(json!({"start": "07:00", "end": "08:00"}), noon));
    assert!(active(json!({"start": "22:00", "end": "08:30"}), noon));
    assert!(
        active(json!({"start": "24:00", "end": "08:00"}), noon),
        "no start"
    );
}

#[test]
fn the_users_clock_is_the_configured_one_or_the_machines() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let zone = |config: Value| heartbeat::user_zone(&config, &TimeZone::UTC);
    let berlin = TimeZone::get("Europe/Berlin").unwrap();
    let named = |name: &str| json!({"agents": {"defaults": {"userTimezone": name}}});
    assert_eq!(zone(named(" Europe/Berlin ")), berlin);
    assert_eq!(zone(named("No/Where")), TimeZone::UTC);
    assert_eq!(zone(json!({})), TimeZone::UTC);
}

#[test]
fn a_beat_is_left_out_for_the_first_reason_that_there_is() {
    let rules = &OPENCLAW_2026_9.runtime.dispatch.heartbeat;
    let utc = TimeZone::UTC;
    let beat = |busy, file| Beat {
        now: "2026-04-23T03:00:00Z".parse().unwrap(),
        user_zone: &utc,
        local_zone: &utc,
        busy,
        file,
    };
    let read = |config: Value| {
        let config = json!({"agents": {"defaults": {"heartbeat": config}}});
        HeartbeatSettings::read(&config, &main_agent(), &OPENCLAW_2026_9)
    };
    let off = read(json!({"every": "0"}));
    assert_eq!(skip(&off, &beat(true, None), rules), Some(Skip::Disabled));
    let quiet = read(json!({"activeHours": {"start": "08:00", "end": "20:00"}}));
    assert_eq!(
        skip(&quiet, &beat(true, None), rules),
        Some(Skip::QuietHours)
    );
    let on = read(json!({}));
    assert_eq!(
        skip(&on, &beat(true, Some("")), rules),
        Some(Skip::RequestsInFlight)
    );
    assert_eq!(
        skip(&on, &beat(false, Some("# H")), rules),
        Some(Skip::EmptyHeartbeatFile)
    );
    assert_eq!(
        skip(&on, &beat(false, None), rules),
        None,
        "the model decides"
    );
    let day = 24 * 60 * 60 * 1000;
    assert!(is_repeat(" tide is high", Some(("tide is high ", day - 1)),));
    assert!(!is_repeat("tide is high", Some(("tide is high", day)),));
}

proptest! {
    #[test]
    fn whatever_is_configured_reading_it_never_fails(
        every in "\\PC{0,12}", start in "[0-9:]{0,6}", end in "[0-9:]{0,6}", zone in "\\PC{0,8}", file in "\\PC{0,40}",
    ) {
        let config = json!({"agents": {"defaults": {"heartbeat": {
            "every": every, "activeHours": {"start": start, "end": end, "timezone": zone},
        }}}});
        let settings = HeartbeatSettings::read(&config, &main_agent(), &CANONICAL);
        let utc = TimeZone::UTC;
        let beat = Beat { now: jiff::Timestamp::UNIX_EPOCH, user_zone: &utc, local_zone: &utc, busy: false, file: Some(&file) };
        let _ = skip(&settings, &beat, &CANONICAL.runtime.dispatch.heartbeat);
    }
}
