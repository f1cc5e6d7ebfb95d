//! What configuration may say.

use chitin_slack::SlackSettings;
use serde_json::{Value, json};

fn paths(section: &Value) -> Vec<String> {
    let issues = SlackSettings::read(section).err().unwrap_or_default();
    issues.into_iter().map(|issue| issue.path).collect()
}

#[test]
fn a_section_of_openclaws_is_read_as_it_is() {
    let section = json!({
        "enabled": true, "mode": "socket", "botToken": "xoxb-1", "dmPolicy": "pairing", "groupPolicy": "allowlist",
        "channels": {"C1": {"requireMention": true}}, "replyToMode": "all", "replyToModeByChatType": {"direct": "off"},
        "thread": {"historyScope": "thread", "initialHistoryLimit": 20}, "mediaMaxMb": 20, "textChunkLimit": 4000,
        "actions": {"reactions": true, "messages": true}, "slashCommand": {"enabled": true}, "nativeStreaming": true,
    });
    let settings = SlackSettings::read(&section).unwrap();
    assert_eq!(settings.account_ids(), ["default"]);
    assert!(settings.is_enabled("default") && settings.uses_socket("default"));
    assert!(SlackSettings::read(&Value::Null).is_ok());
}

#[test]
fn everything_that_cannot_be_used_is_named() {
    let section = json!({
        "enabled": "yes", "mode": "carrier-pigeon", "webhookPath": "events", "mediaMaxMb": -1, "apiUrl": "http://x.example/api",
        "actions": {"pins": "no"}, "thread": {"initialHistoryLimit": "all", "historyScope": "all"}, "replyToMode": "some",
        "replyToModeByChatType": {"direct": 1},
    });
    let names = [
        "enabled",
        "mode",
        "webhookPath",
        "mediaMaxMb",
        "apiUrl",
        "actions.pins",
        "thread.initialHistoryLimit",
        "thread.historyScope",
        "replyToMode",
        "replyToModeByChatType.direct",
    ];
    assert_eq!(paths(&section), names);
    assert_eq!(paths(&json!([])), [""]);
}

#[test]
fn accounts_have_what_the_section_says_unless_they_say_otherwise() {
    let section = json!({
        "mode": "http",
        "accounts": {"Work": {"webhookPath": "/work"}, "home": {"mode": "socket"}, "club": {"enabled": false}},
    });
    let settings = SlackSettings::read(&section).unwrap();
    assert_eq!(settings.account_ids(), ["club", "home", "work"]);
    assert!(!settings.uses_socket("work") && settings.uses_socket("home"));
    assert!(!settings.is_enabled("club"));
    // A mistake is named where it stands, and a path belongs to one account.
    let section = json!({"mode": "http", "accounts": {"a": {}, "b": {}, "c": {"mode": "x"}}});
    assert_eq!(
        paths(&section),
        ["accounts.c.mode", "accounts.b.webhookPath"]
    );
}

#[test]
fn a_plain_address_goes_to_this_machine_only() {
    for good in [
        "https://slack.example/api",
        "http://127.0.0.1:80/api/",
        "http://[::1]:80/",
        "http://localhost/api",
    ] {
        assert!(paths(&json!({"apiUrl": good})).is_empty(), "{good}");
    }
    for bad in [
        "http://10.0.0.1/",
        "http://127.0.0.1.example/",
        "https://me:pw@slack.example/",
        "ftp://127.0.0.1/",
        "slack",
        "https://x.example/?a",
    ] {
        assert_eq!(paths(&json!({"apiUrl": bad})), ["apiUrl"], "{bad}");
    }
}
