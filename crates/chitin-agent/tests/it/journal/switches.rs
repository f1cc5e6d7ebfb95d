//! Who wins when several places say something about a switch.

use super::Scene;
use chitin_agent::journal::{Switches, TrajectorySwitch};
use chitin_contract::TraceRules;
use chitin_protocol::settings::{CacheTraceSettings, PayloadDetail, TraceSettings};
use serde_json::{Value, json};

fn read(
    variables: &[(&str, &str)],
    settings: &TraceSettings,
    config: &Value,
    rules: TraceRules,
) -> (Switches, Scene) {
    let scene = Scene::new(rules);
    let find = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let switches = Switches::from_lookup(find, settings, config, &scene.places(), &rules);
    (switches, scene)
}

#[test]
fn only_the_trajectory_is_on_by_itself() {
    let none = TraceSettings::default();
    let (switches, scene) = read(&[], &none, &Value::Null, TraceRules::CANONICAL);
    assert_eq!(
        switches,
        Switches {
            trajectory: Some(TrajectorySwitch {
                directory: None,
                logs: scene.state().join("logs"),
            }),
            ..Switches::default()
        }
    );
    let off = [("OPENCLAW_TRAJECTORY", "0")];
    let (switches, _) = read(&off, &none, &Value::Null, TraceRules::CANONICAL);
    assert!(switches.is_off());
}

#[test]
fn our_twin_wins_and_an_empty_one_says_nothing() {
    let none = TraceSettings::default();
    let is_on = |variables: &[(&str, &str)]| {
        let (switches, _) = read(variables, &none, &Value::Null, TraceRules::CANONICAL);
        switches.raw_stream.is_some()
    };
    let theirs = "OPENCLAW_RAW_STREAM";
    let ours = "CHITIN_RAW_STREAM";
    assert!(is_on(&[(theirs, "Yes")]));
    assert!(!is_on(&[(theirs, "1"), (ours, "off")]));
    assert!(is_on(&[(theirs, "0"), (ours, "TRUE")]));
    assert!(is_on(&[(theirs, "1"), (ours, "  ")]));
    assert!(!is_on(&[(theirs, "maybe")]));
}

#[test]
fn a_word_that_is_not_understood_is_told() {
    let variables = [
        ("CHITIN_RAW_STREAM", "maybe"),
        ("OPENCLAW_DEBUG_MODEL_PAYLOAD", "all"),
    ];
    let none = TraceSettings::default();
    let (switches, _) = read(&variables, &none, &Value::Null, TraceRules::CANONICAL);
    insta::assert_snapshot!(switches.notes.join("\n"), @r"
    `CHITIN_RAW_STREAM` is neither `1` nor `0`; it is passed over
    `OPENCLAW_DEBUG_MODEL_PAYLOAD` is none of `summary`, `tools`, `full-redacted`; it is passed over
    ");
    let unknown = [("OPENCLAW_DEBUG_MODEL_PAYLOAD", "tools")];
    let (switches, _) = read(&unknown, &none, &Value::Null, TraceRules::OPENCLAW_2026_4);
    insta::assert_snapshot!(switches.notes.join("\n"), @"this contract does not know `OPENCLAW_DEBUG_MODEL_PAYLOAD`; `CHITIN_DEBUG_MODEL_PAYLOAD` works under every contract");
}

#[test]
fn variables_come_before_our_file_and_that_before_openclaws() {
    let config = json!({"diagnostics": {"cacheTrace": {
        "enabled": true, "filePath": "theirs.jsonl", "includeSystem": true, "includePrompt": true
    }}});
    let none = TraceSettings::default();
    let (switches, scene) = read(&[], &none, &config, TraceRules::CANONICAL);
    let trace = switches.cache_trace.unwrap();
    assert_eq!(trace.path, scene.env.path().join("theirs.jsonl"));
    assert!(trace.system && trace.prompt && trace.messages);

    let own = TraceSettings {
        cache_trace: Some(CacheTraceSettings {
            file_path: Some("~/ours.jsonl".to_owned()),
            include_prompt: Some(false),
            ..CacheTraceSettings::default()
        }),
        ..TraceSettings::default()
    };
    let variables = [("OPENCLAW_CACHE_TRACE_SYSTEM", "0")];
    let (switches, scene) = read(&variables, &own, &config, TraceRules::CANONICAL);
    let trace = switches.cache_trace.unwrap();
    assert_eq!(trace.path, scene.env.home().join("ours.jsonl"));
    assert!(!trace.system && !trace.prompt);

    let off = [("CHITIN_CACHE_TRACE", "0")];
    let (switches, _) = read(&off, &own, &config, TraceRules::CANONICAL);
    assert_eq!(switches.cache_trace, None);
}

#[test]
fn everything_can_be_switched_on_in_our_file() {
    let settings: TraceSettings = serde_json::from_value(json!({
        "trajectoryDir": "/elsewhere",
        "payloadLog": true,
        "rawStream": true,
        "cacheTrace": {"enabled": true},
        "modelPayload": "full-redacted"
    }))
    .unwrap();
    let (switches, scene) = read(&[], &settings, &Value::Null, TraceRules::OPENCLAW_2026_4);
    let logs = scene.state().join("logs");
    assert_eq!(
        switches.payload_log,
        Some(logs.join("anthropic-payload.jsonl"))
    );
    assert_eq!(switches.raw_stream, Some(logs.join("raw-stream.jsonl")));
    assert_eq!(
        switches.cache_trace.unwrap().path,
        logs.join("cache-trace.jsonl")
    );
    assert_eq!(
        switches.payload_summary.unwrap().detail,
        PayloadDetail::FullRedacted
    );
    assert_eq!(
        switches.trajectory.unwrap().directory,
        Some("/elsewhere".into())
    );
}
