//! What is wrong inside of `channels`, by what Chitin reads of it.

use chitin_config::env::Env;
use chitin_config::{
    Issue, IssueSeverity, LoadedChitinConfig, channel_issues, channel_notes, load,
    load_chitin_config, parse_json5,
};
use chitin_contract::ConfigRules;
use chitin_test::TestEnv;
use proptest::prelude::*;
use serde_json::{Value, json};

fn own(channels: &str) -> LoadedChitinConfig {
    let test = TestEnv::new();
    test.file(
        "home/.chitin/chitin.json5",
        format!("{{ channels: {channels} }}"),
    );
    let own = load_chitin_config(&test.home().join(".chitin"));
    own.unwrap().unwrap()
}

/// Everything that is said of a section, one line each.
fn said(issues: &[Issue]) -> Vec<String> {
    let line = |issue: &Issue| {
        let severity = match issue.severity {
            IssueSeverity::Error => "error",
            IssueSeverity::Warning => "warning",
            IssueSeverity::Note => "note",
        };
        let hint = issue.hint.as_deref().unwrap_or_default();
        format!("{severity} {}: {} {hint}", issue.path, issue.message)
            .trim_end()
            .to_owned()
    };
    issues.iter().map(line).collect()
}

#[test]
fn a_slip_is_found_wherever_it_stands_with_the_nearest_name() {
    let cases = [
        (
            "{ discord: { groupPolcy: 'open' } }",
            "warning channels.discord: `groupPolcy` is not a known key here. did you mean `groupPolicy`?",
        ),
        (
            "{ discord: { dmPolicy: 'opne' } }",
            "error channels.discord.dmPolicy: Expected one of `pairing`, `allowlist`, `open`, `disabled`; found `\"opne\"`. did you mean `open`?",
        ),
        (
            "{ discord: { guilds: { '*': { channels: { berths: { requireMentoin: true } } } } } }",
            "warning channels.discord.guilds.*.channels.berths: `requireMentoin` is not a known key here. did you mean `requireMention`?",
        ),
        (
            "{ discord: { accounts: { night: { allowFrom: 'ada' } } } }",
            "error channels.discord.accounts.night.allowFrom: Expected a list; found `\"ada\"`.",
        ),
        (
            "{ slack: { channels: { C1: { tools: { deny: 'exec' } } } } }",
            "error channels.slack.channels.C1.tools.deny: Expected a list; found `\"exec\"`.",
        ),
        (
            "{ slack: { streaming: { mod: 'partial' } } }",
            "warning channels.slack.streaming: `mod` is not a known key here. did you mean `mode`?",
        ),
        (
            "{ slack: { streaming: 'partail' } }",
            "error channels.slack.streaming: Expected `true` or `false` or one of `off`, `partial`, `block`, `progress` or an object; found `\"partail\"`.",
        ),
        (
            "{ slack: { thread: { initialHistoryLimit: -1 } } }",
            "error channels.slack.thread.initialHistoryLimit: Expected a whole number from 0; found `-1`.",
        ),
    ];
    for (channels, expected) in cases {
        let own = own(channels);
        assert_eq!(own.issues, [], "reading does not judge it: {channels}");
        let issues = channel_issues(&own);
        assert_eq!(said(&issues), [expected], "{channels}");
        assert_eq!(issues[0].line, Some(1), "{channels}");
    }
}

#[test]
fn what_only_openclaw_has_is_known_and_without_effect() {
    let own = own(
        "{ discord: { voice: {}, ui: {}, actions: { polls: true } }, slack: { thread: { inheritParent: true } } }",
    );
    assert_eq!(
        said(&channel_issues(&own)),
        [
            "note channels.discord.actions: `polls` is known to OpenClaw and has no effect here.",
            "note channels.discord: `voice`, `ui` are known to OpenClaw and have no effect here.",
            "note channels.slack.thread: `inheritParent` is known to OpenClaw and has no effect here.",
        ]
    );
}

#[test]
fn a_network_that_is_not_here_is_said_when_the_file_is_read_and_whether_openclaw_has_it() {
    let own = own("{ telegram: true, discrod: { enabled: true } }");
    assert_eq!(
        said(&own.issues),
        [
            "warning channels: `telegram` is known to OpenClaw and has no effect here.",
            "warning channels: `discrod` is not a known key here. did you mean `discord`?",
        ]
    );
    assert_eq!(own.config.channels.len(), 0, "neither goes on to anybody");
    assert_eq!(channel_issues(&own), [], "and neither is said twice");
}

#[test]
fn the_examples_of_the_guide_say_nothing_odd() {
    let guide = include_str!("../../../../docs/guides/channels.md");
    let examples: Vec<&str> = guide
        .split("```json5\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(examples.len() >= 2);
    for example in examples {
        let value = parse_json5(example).unwrap();
        let own = own(&value["channels"].to_string());
        assert_eq!(own.issues, [], "{example}");
        assert_eq!(channel_issues(&own), [], "{example}");
    }
}

#[test]
fn openclaws_own_file_gets_notes_alone_and_none_twice() {
    let test = TestEnv::new();
    let path = test.file(
        "openclaw.json",
        "{ channels: { discord: { historyLimmit: 3, dmPolicy: 'opne', voice: {} }, slack: { relay: {} }, zulip: { a: 1 } } }",
    );
    let env = Env::new(test.path());
    for (rules, errors) in [(ConfigRules::Keys2026_4, 4), (ConfigRules::Keys2026_9, 3)] {
        let loaded = load(&path, &env, rules).unwrap().unwrap();
        assert_eq!(loaded.issues.len(), errors, "{:?}", loaded.issues);
        let notes = channel_notes(&loaded);
        assert!(
            notes
                .iter()
                .all(|note| note.severity == IssueSeverity::Note)
        );
        let all: Vec<_> = loaded.issues.iter().chain(&notes).collect();
        let places: std::collections::BTreeSet<_> = all
            .iter()
            .map(|issue| (&issue.path, issue.column))
            .collect();
        assert_eq!(places.len(), all.len(), "{all:?}");
        assert!(said(&notes).iter().any(|note| note.contains("`voice`")));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("discord"),
        Just("slack"),
        Just("accounts"),
        Just("guilds"),
        Just("channels"),
        Just("streaming"),
        Just("dm"),
        Just("actions"),
        Just("token"),
        Just("tools"),
        Just("x.y"),
        Just("telegram"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z ]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::hash_map(key.clone().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_stands_there_is_judged_and_every_finding_has_a_path(channels in any_json()) {
        let own = LoadedChitinConfig {
            value: json!({"channels": channels}),
            issues: Vec::new(),
            ..own("{}")
        };
        for issue in channel_issues(&own) {
            prop_assert!(issue.path.starts_with("channels"), "{issue:?}");
        }
    }
}
