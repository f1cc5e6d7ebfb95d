//! `chitin config` through the binary: what it prints and how it ends.

use crate::process::chitin;
use chitin_test::TestEnv;
use std::process::Output;

fn stdout(test: &TestEnv, output: &Output) -> String {
    test.redact(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn an_invalid_file_is_shown_with_its_line_and_ends_with_four() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{\n  session: { dmScoope: 'main' },\n}\n",
    );
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(stdout(&test, &output), @r"
    error: `session`: `dmScoope` is not a known key here.
      --> $TEST_ENV/home/.openclaw/openclaw.json:2:14
       |
     2 |   session: { dmScoope: 'main' },
       |              ^
      hint: did you mean `dmScope`?

    `$TEST_ENV/home/.openclaw/openclaw.json` is not valid for canonical.
    ");
}

#[test]
fn a_broken_file_points_at_the_place() {
    let test = TestEnv::new();
    test.file("broken.json5", "{\n  a: 1\n  b: 2\n}\n");
    let output = chitin(&test, &["config", "validate", "broken.json5"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(stdout(&test, &output), @r"
    error: The file cannot be used: it is not JSON5: expected comma.
      --> $TEST_ENV/broken.json5:3:3
       |
     3 |   b: 2
       |   ^

    `$TEST_ENV/broken.json5` is not valid for canonical.
    ");
}

/// The reader recurses; each of these once hid its brackets from the limit, and the stack overflowed.
#[test]
fn no_nesting_ends_the_program() {
    let test = TestEnv::new();
    for before in ["{é:", "/*/ ' */", "["] {
        let nested = format!("{before}{}", "[".repeat(200_000));
        test.file("deep.json5", nested);
        let output = chitin(&test, &["config", "validate", "deep.json5"]);
        assert_eq!(output.status.code(), Some(4), "{before}");
        let said = stdout(&test, &output);
        assert!(
            said.contains("its values are nested more than 128 deep"),
            "{before}: {said}"
        );
    }
}

#[test]
fn nothing_to_check_is_fine_and_a_named_file_has_to_exist() {
    let test = TestEnv::new();
    assert_eq!(
        chitin(&test, &["config", "validate"]).status.code(),
        Some(0)
    );
    let named = chitin(&test, &["config", "validate", "none.json"]);
    assert_eq!(named.status.code(), Some(3));
}

#[test]
fn explain_names_the_layer_and_what_it_overrides() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { defaults: { bootstrapMaxChars: 7 } } }",
    );
    test.file(
        "home/.chitin/chitin.json5",
        "{ contract: 'openclaw-2026.9' }",
    );
    let output = chitin(
        &test,
        &["config", "explain", "agents.defaults.bootstrapMaxChars"],
    );
    insta::assert_snapshot!(stdout(&test, &output), @r"
    agents.defaults.bootstrapMaxChars = 7
        from openclaw.json ($TEST_ENV/home/.openclaw/openclaw.json:1)
        overrides 20000 from built in
    ");
}

#[test]
fn secrets_are_never_shown() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{ gateway: { auth: { token: 'hush' } }, env: { vars: { A: 'hush' } }, channels: { x: [{ apiKey: 'hush' }] } }",
    );
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["config", "explain", "gateway"],
    ] {
        let output = chitin(&test, args);
        assert!(output.status.success());
        let shown = stdout(&test, &output);
        assert!(
            shown.contains("[redacted]") && !shown.contains("hush"),
            "{shown}"
        );
    }
}

/// A little of everything that can be wrong with chat networks.
fn odd_channels() -> TestEnv {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{\n  channels: {\n    discord: { token: 'hush-hush-hush', voice: {}, dmPolicy: 'open' },\n    zulip: {},\n  },\n}\n",
    );
    test.file(
        "home/.chitin/chitin.json5",
        r#"{
  channels: {
    discord: {
      enabled: true,
      token: "hush-hush-hush-hush",
      mediaMaxMb: 4096,
      groupPolcy: "open",
      guilds: { "42": { channels: { berths: { autoThread: "yes", skills: ["ropes"] } } } },
      accounts: { night: { mediaMaxMb: 8 } },
    },
    slack: { enabled: true, mode: "carrier pigeon", botToken: "${SLACK}", appToken: { source: "file", id: "app" } },
    telegram: { enabled: true },
    discrod: {},
  },
}
"#,
    );
    test
}

#[test]
#[cfg(all(feature = "discord", feature = "slack"))]
fn what_is_wrong_with_chat_networks_is_shown_with_its_place_and_without_secrets() {
    let test = odd_channels();
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(stdout(&test, &output));
}

#[test]
fn programs_get_the_same_and_no_secret_either() {
    let test = odd_channels();
    for arguments in [
        &["config", "validate", "--json"][..],
        &["config", "validate", "home/.chitin/chitin.json5", "--json"],
        &[
            "config",
            "validate",
            "home/.openclaw/openclaw.json",
            "--json",
        ],
    ] {
        let output = chitin(&test, arguments);
        let shown = stdout(&test, &output);
        let said: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let issues = said["issues"].as_array().unwrap();
        assert!(!issues.is_empty() && !shown.contains("hush"), "{shown}");
        let is_valid = issues.iter().all(|issue| issue["severity"] != "error");
        assert_eq!(said["valid"], is_valid, "{shown}");
        let code = if is_valid { 0 } else { 4 };
        assert_eq!(output.status.code(), Some(code), "{shown}");
    }
}

#[test]
#[cfg(not(feature = "discord"))]
fn a_network_that_is_not_built_in_is_said() {
    let test = TestEnv::new();
    let own = "{ channels: { discord: { enabled: true, mediaMaxMb: 'big' } } }";
    test.file("home/.chitin/chitin.json5", own);
    let output = chitin(&test, &["config", "validate"]);
    let said = stdout(&test, &output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("built without Discord") && said.contains("a number from 0"),
        "{said}"
    );
}

#[test]
#[cfg(feature = "discord")]
fn networks_that_are_set_up_well_are_valid() {
    let test = TestEnv::new();
    test.file(
        "home/.chitin/chitin.json5",
        "{ channels: { discord: { enabled: true, token: { source: 'env', id: 'DISCORD_BOT_TOKEN' }, guilds: { '*': { requireMention: true } } } } }",
    );
    let mut command = crate::process::command(&test, &["config", "validate"]);
    let output = command
        .env("DISCORD_BOT_TOKEN", "not-a-real-token-0123456789")
        .output()
        .unwrap();
    insta::assert_snapshot!(stdout(&test, &output), @r"
    There is no `$TEST_ENV/home/.openclaw/openclaw.json`; nothing to check.
    `$TEST_ENV/home/.chitin/chitin.json5` is valid.
    ");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_file_of_chitin_that_cannot_be_read_is_shown_with_its_line() {
    let test = TestEnv::new();
    test.file("home/.chitin/chitin.json5", "{\n  channels: {,\n}\n");
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4));
    let said = stdout(&test, &output);
    assert!(said.contains("chitin.json5:2:14"), "{said}");
    assert!(said.contains("chitin.json5` is not valid."), "{said}");
}

#[test]
fn a_line_that_may_hold_a_secret_is_not_shown_when_it_cannot_be_read() {
    let test = TestEnv::new();
    let broken = "{ channels: { discord: { token: 'hush' enabled: true } } }";
    test.file("home/.chitin/chitin.json5", broken);
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4));
    let said = stdout(&test, &output);
    assert!(
        said.contains("chitin.json5:1:40") && !said.contains("hush"),
        "{said}"
    );
}

#[test]
fn what_stops_every_command_is_an_error_here_too() {
    let test = TestEnv::new();
    test.file(
        "home/.chitin/chitin.json5",
        "{ exec: { sandbocks: 'off' } }",
    );
    assert_eq!(chitin(&test, &["agents"]).status.code(), Some(4));
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4), "{}", stdout(&test, &output));
}
