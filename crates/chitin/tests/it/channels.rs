//! Chat networks as their owner sets them up: tokens in, nothing of them out, and what `chitin doctor` says of all.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at behind the program's back"
)]

use crate::process::{chitin, command, transcript};
use chitin_test::TestEnv;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const DISCORD: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4.not-a-real.token-at-all";
const SLACK_BOT: &str = "xoxb-not-a-real-token-0123456789";
const SLACK_APP: &str = "xapp-not-a-real-token-0123456789";

/// Runs a command with something in its pipe, and returns what it said as one document.
fn piped(env: &TestEnv, arguments: &[&str], input: &str) -> String {
    let mut child = command(env, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| env.redact(&String::from_utf8_lossy(bytes));
    format!(
        "$ chitin {} < tokens\n{}{}[exit {}]\n",
        arguments.join(" "),
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap_or(-1)
    )
}

#[test]
fn an_owner_sets_networks_up_and_no_token_is_ever_shown() {
    let env = TestEnv::new();
    let mut story = transcript(&env, &["channels"]);
    story += &piped(
        &env,
        &["channels", "login", "discord"],
        &format!("{DISCORD}\n"),
    );
    story += &piped(
        &env,
        &["channels", "login", "slack", "--account", "night"],
        &format!("{SLACK_APP}\n\n{SLACK_BOT}\n"),
    );
    story += &transcript(&env, &["channels"]);
    story += &piped(&env, &["channels", "login", "slack"], "hunter2\n");
    story += &piped(
        &env,
        &["channels", "login", "slack"],
        &format!("{SLACK_APP}\n"),
    );
    story += &transcript(&env, &["channels", "logout", "discord"]);
    story += &transcript(&env, &["channels", "logout", "discord"]);
    story += &transcript(&env, &["channels", "list", "--json"]);
    for secret in [DISCORD, SLACK_BOT, SLACK_APP, "hunter2"] {
        assert!(!story.contains(secret), "{story}");
    }
    insta::assert_snapshot!(story);

    let kept = env.home().join(".chitin/channels.json");
    let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(kept).unwrap().contains(SLACK_BOT));
}

#[test]
fn what_openclaw_answers_already_is_connected_only_when_its_owner_says_so() {
    let env = TestEnv::new();
    env.file(
        "home/.openclaw/openclaw.json",
        format!("{{ channels: {{ discord: {{ token: '{DISCORD}' }} }} }}"),
    );
    let mut story = transcript(&env, &["channels"]);
    story += &piped(
        &env,
        &["channels", "login", "discord", "--as-configured"],
        "",
    );
    story += &transcript(&env, &["channels"]);
    env.file(
        "home/.chitin/chitin.json5",
        "{ channels: { discord: { enabled: false } } }",
    );
    story += &transcript(&env, &["channels"]);
    assert!(!story.contains(DISCORD), "{story}");
    insta::assert_snapshot!(story);
}

#[test]
fn a_network_that_lacks_what_its_mode_needs_is_said_before_it_is_served() {
    let env = TestEnv::new();
    piped(
        &env,
        &["channels", "login", "slack"],
        &format!("{SLACK_BOT}\n"),
    );
    let listed = transcript(&env, &["channels"]);
    assert!(listed.contains("slack     cannot be connected"), "{listed}");
    assert!(
        listed.contains("Socket Mode needs the app token"),
        "{listed}"
    );
    env.file(
        "home/.chitin/chitin.json5",
        "{ channels: { slack: { mode: 'http' } } }",
    );
    let listed = transcript(&env, &["channels"]);
    assert!(!listed.contains("Socket Mode"), "{listed}");
}

#[test]
fn a_doctor_says_what_is_in_the_way_and_what_to_do() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "# Rules\n")]);
    let home = env.file(
        "home/.chitin/server-token",
        "a-token-that-others-can-read\n",
    );
    std::fs::set_permissions(&home, PermissionsExt::from_mode(0o644)).unwrap();
    env.file(
        "home/.chitin/chitin.json5",
        "{ model: 'yard/none', providers: { yard: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' } }, server: { port: 0 } }",
    );
    let report = chitin(&env, &["doctor", "workspace", "--json"]);
    assert_eq!(report.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let wrong: Vec<(&str, &str)> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["verdict"] == "wrong")
        .map(|check| {
            (
                check["area"].as_str().unwrap(),
                check["message"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        wrong,
        [
            ("home", "other users can access `~/.chitin/server-token`"),
            ("model", "could not reach `http://127.0.0.1:9/v1`"),
        ]
    );

    std::fs::set_permissions(&home, PermissionsExt::from_mode(0o600)).unwrap();
    env.file(
        "home/.chitin/chitin.json5",
        "{ channels: { slack: { enabled: true, mode: 'pigeon', dmPolicy: 'opn', botToken: 'xoxb-not-a-real-token' }, irc: { enabled: true } } }",
    );
    let odd = chitin(&env, &["doctor", "workspace", "--offline"]);
    let said = String::from_utf8_lossy(&odd.stdout);
    assert_eq!(odd.status.code(), Some(1), "{said}");
    assert!(said.contains("slack: `channels.slack.mode`"), "{said}");
    assert!(said.contains("`channels.slack.dmPolicy`"), "{said}");
    let noted = String::from_utf8_lossy(&chitin(&env, &["channels"]).stderr).into_owned();
    assert!(
        noted.contains("irc"),
        "a network that nobody knows is said: {noted}"
    );

    env.file(
        "home/.chitin/chitin.json5",
        "{ model: 'yard/none', providers: { yard: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1' } }, server: { port: 0 } }",
    );
    let well = chitin(&env, &["doctor", "workspace", "--offline"]);
    let said = String::from_utf8_lossy(&well.stdout);
    assert_eq!(well.status.code(), Some(0), "{said}");
    assert!(
        said.contains("`http://127.0.0.1:9/v1` was not contacted"),
        "{said}"
    );
}
