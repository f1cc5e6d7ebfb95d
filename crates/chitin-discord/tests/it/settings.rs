//! What a configuration can say, and what is said of what it cannot.

use chitin_discord::{
    Discord, DiscordError, DiscordNotes, DiscordSettings, PositionStore, SettingIssue,
};
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn issues(section: &Value) -> Vec<(String, String)> {
    let issue = |issue: SettingIssue| (issue.path, issue.message);
    DiscordSettings::read(section)
        .unwrap_err()
        .into_iter()
        .map(issue)
        .collect()
}

fn note() -> DiscordNotes {
    Arc::new(|_| {})
}

#[test]
fn nothing_said_is_one_account_and_the_usual_limits() {
    for section in [
        json!(null),
        json!({}),
        json!({"groupPolicy": "allowlist", "someNewKey": [1]}),
    ] {
        let settings = DiscordSettings::read(&section).unwrap();
        assert_eq!(settings, DiscordSettings::default());
        assert_eq!(settings.usual.media_max, 8 << 20);
    }
}

#[test]
fn an_account_says_it_before_the_section() {
    let section = json!({
        "mediaMaxMb": 4, "intents": {"presence": true},
        "accounts": {"Work": {"mediaMaxMb": 2}, "home": {"enabled": false, "intents": {"messageContent": false}}},
    });
    let settings = DiscordSettings::read(&section).unwrap();
    let names: Vec<&str> = settings.accounts.keys().map(String::as_str).collect();
    assert_eq!(names, ["home", "work"]);
    let work = &settings.accounts["work"];
    assert_eq!(
        (
            work.media_max,
            work.intents.presence,
            work.intents.message_content
        ),
        (2 << 20, true, true)
    );
    let home = &settings.accounts["home"];
    assert_eq!(
        (home.enabled, home.media_max, home.intents.message_content),
        (false, 4 << 20, false)
    );
}

#[test]
fn what_cannot_be_used_is_named_with_its_place() {
    let section = json!({
        "mediaMaxMb": 0, "textChunkLimit": "many", "maxLinesPerMessage": 1.5, "enabled": "yes", "actions": {"pins": 1},
        "accounts": {"work": {"mediaMaxMb": -1, "intents": {"presence": "on"}}, "odd": 7}, "apiUrl": "http://proxy.example", "gatewayUrl": "wss://x/path",
    });
    insta::assert_debug_snapshot!(issues(&section));
    assert_eq!(
        issues(&json!([])),
        [(String::new(), "It must be an object.".to_owned())]
    );
}

/// A token goes to these addresses: without TLS only to this machine.
#[test]
fn a_proxy_without_tls_is_on_this_machine() {
    for good in [
        "https://proxy.example",
        "https://proxy.example:8443/",
        "http://127.0.0.1:8080",
        "http://localhost:1",
        "http://[::1]:5",
    ] {
        assert!(
            DiscordSettings::read(&json!({"apiUrl": good})).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "http://proxy.example",
        "http://127.0.0.1.example.com",
        "http://localhost.example",
        "https://user:word@proxy.example",
        "ftp://127.0.0.1",
        "https://proxy.example/path",
        "https://proxy.example?x",
        "proxy.example",
        "",
        "http://10.0.0.1",
    ] {
        assert!(
            DiscordSettings::read(&json!({"apiUrl": bad})).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn without_a_token_there_is_no_discord_and_an_odd_one_is_not_shown() {
    let settings = DiscordSettings::default();
    let made = |tokens: &[(&str, &str)]| {
        let tokens = tokens
            .iter()
            .map(|(id, token)| ((*id).to_owned(), SecretString::from(*token)));
        Discord::new(
            &settings,
            tokens.collect::<BTreeMap<_, _>>(),
            PositionStore::none(),
            &note(),
        )
    };
    assert!(matches!(made(&[]), Err(DiscordError::NoToken)));
    assert!(matches!(
        made(&[("default", "  ")]),
        Err(DiscordError::NoToken)
    ));
    let odd = made(&[("default", "se cret\n\u{1}token")]).unwrap_err();
    assert_eq!(
        odd.to_string(),
        "the token of the account `default` has signs in it that no token has"
    );
    assert!(made(&[("default", "Bot abc.def")]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever a configuration says, it is read or refused with places, and limits are never beyond Discord's.
    #[test]
    fn settings_are_read_or_refused(media in any::<i64>(), chunk in any::<i64>(), lines in any::<i64>(), key in "[a-zA-Z.]{0,12}", text in ".{0,20}") {
        let section = json!({"mediaMaxMb": media, "textChunkLimit": chunk, "maxLinesPerMessage": lines, key.as_str(): text});
        match DiscordSettings::read(&section) {
            Ok(settings) => {
                prop_assert!(settings.max_chars <= 2_000 && settings.usual.media_max <= 25 << 20);
            }
            Err(issues) => prop_assert!(issues.iter().all(|issue| !issue.message.is_empty())),
        }
    }
}
