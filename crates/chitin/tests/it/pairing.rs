//! `pairing` as a user meets it: who waits, letting in, sending away, shutting out.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at files behind the program's back"
)]

use crate::process;
use chitin_test::TestEnv;
use serde_json::{Value, json};

/// Puts two who wait and one who was let in into a home directory; codes count for an hour from now.
fn keep(env: &TestEnv) {
    let now = jiff::Timestamp::now().as_millisecond();
    let waits = |sender: &str, name: &str, code: &str, account: &str| {
        json!({
            "channel": "discord", "account": account, "senderId": sender, "senderName": name, "code": code,
            "askedAt": now, "expiresAt": now + 3_599_000, "toldAt": now,
            "place": {"channel": "discord", "accountId": account, "peer": {"kind": "direct", "id": sender}},
        })
    };
    let file = json!({
        "version": 1,
        "pending": [waits("42", "Ada", "H7KM2QXA", "default"), waits("43", "Eve \u{1b}[31m", "ZZZZ2222", "work")],
        "paired": [{"channel": "slack", "account": "default", "senderId": "U7", "owner": true, "since": now}],
    });
    env.file("home/.chitin/trust/pairing.json", file.to_string());
}

/// What a run ended with and printed.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn chitin(env: &TestEnv, arguments: &[&str]) -> Ran {
    let output = process::chitin(env, arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn listed(env: &TestEnv) -> Value {
    let output = chitin(env, &["pairing", "list", "--json"]);
    serde_json::from_str(&output.stdout).unwrap()
}

/// Returns who waits, and who was let in as what.
fn people(env: &TestEnv) -> (Vec<String>, Vec<(String, bool)>) {
    let listed = listed(env);
    let id = |one: &Value| one["senderId"].as_str().unwrap().to_owned();
    let all = |name: &str| listed[name].as_array().unwrap().clone();
    (
        all("pending").iter().map(id).collect(),
        all("paired")
            .iter()
            .map(|one| (id(one), one["owner"] == true))
            .collect(),
    )
}

#[test]
fn nobody_waits_where_nobody_asked_and_nothing_is_made() {
    let env = TestEnv::new();
    let output = chitin(&env, &["pairing"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "No pending pairing requests.\nNo approved senders.\n")
    );
    assert!(!env.home().join(".chitin/trust").exists());
}

#[test]
fn who_waits_is_listed_with_the_code_and_the_command() {
    let env = TestEnv::new();
    keep(&env);
    let output = chitin(&env, &["pairing"]);
    assert_eq!(
        output.stdout,
        "2 pending pairing requests:\n  H7KM2QXA  discord  42 (Ada)  expires in 60 minutes\n  ZZZZ2222  discord/work  43 (Eve [31m)  expires in 60 \
         minutes\n1 approved sender:\n  slack  U7  owner\nchitin pairing approve H7KM2QXA\n"
    );
    let slack = chitin(&env, &["pairing", "--channel", "Slack"]);
    assert_eq!(
        slack.stdout,
        "No pending pairing requests.\n1 approved sender:\n  slack  U7  owner\n"
    );
}

#[test]
fn a_code_lets_in_sends_away_and_an_id_shuts_out() {
    let env = TestEnv::new();
    keep(&env);
    let approved = chitin(&env, &["pairing", "approve", "h7km-2qxa", "--owner"]);
    assert_eq!(
        (approved.code, approved.stdout.as_str()),
        (0, "Approved 42 (Ada) on discord as an owner.\n")
    );
    let rejected = chitin(
        &env,
        &[
            "pairing",
            "reject",
            "ZZZZ2222",
            "--channel",
            "discord",
            "--json",
        ],
    );
    assert_eq!(
        serde_json::from_str::<Value>(&rejected.stdout).unwrap()["decision"],
        "rejected"
    );
    assert_eq!(
        people(&env),
        (
            vec![],
            vec![("U7".to_owned(), true), ("42".to_owned(), true)]
        )
    );
    let revoked = chitin(&env, &["pairing", "revoke", "discord", "<@42>"]);
    assert_eq!(
        (revoked.code, revoked.stdout.as_str()),
        (0, "Revoked the approval of <@42> on discord.\n")
    );
    assert_eq!(people(&env).1, [("U7".to_owned(), true)]);
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let env = TestEnv::new();
    keep(&env);
    let said = |args: &[&str]| {
        let output = chitin(&env, args);
        (output.code, output.stderr)
    };
    let (code, text) = said(&["pairing", "approve", "AAAAAAAA"]);
    assert_eq!(code, 3);
    assert!(
        text.contains("Unknown or expired pairing code") && text.contains("`chitin pairing` lists"),
        "{text}"
    );
    let (code, text) = said(&["pairing", "approve", "H7KM2QXA", "--channel", "slack"]);
    assert!(
        code == 3 && text.contains("Unknown or expired pairing code"),
        "{text}"
    );
    let (code, text) = said(&["pairing", "approve", "H7KM"]);
    assert!(code == 3 && text.contains("not a pairing code"), "{text}");
    let (code, text) = said(&["pairing", "revoke", "discord", "42"]);
    assert!(
        code == 3 && text.contains("`42` is not an approved sender on `discord`"),
        "{text}"
    );
    assert_eq!(said(&["pairing", "approve"]).0, 2);
    env.file("home/.chitin/trust/pairing.json", "{");
    let (code, text) = said(&["pairing"]);
    assert!(code == 3 && text.contains("pairing.json"), "{text}");
}
