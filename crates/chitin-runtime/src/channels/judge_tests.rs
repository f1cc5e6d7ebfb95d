use super::*;
use crate::channels::{Activation, ChannelSecrets, SecretOrigin};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn account(id: &str, has: &[ChannelSecret]) -> ChannelAccount {
    let secrets: ChannelSecrets = has
        .iter()
        .map(|secret| (*secret, "0123456789abcdef".to_owned().into()))
        .collect();
    let origins: BTreeMap<ChannelSecret, SecretOrigin> = has
        .iter()
        .map(|secret| (*secret, SecretOrigin::Kept))
        .collect();
    ChannelAccount {
        id: id.to_owned(),
        secrets,
        origins,
    }
}

fn plan(kind: ChannelKind, section: Value, accounts: Vec<ChannelAccount>) -> ChannelPlan {
    ChannelPlan {
        kind,
        section,
        activation: Activation::On,
        accounts,
        trust: chitin_net::TlsRoots::default(),
    }
}

fn paths(wrong: &[ChannelIssue]) -> Vec<&str> {
    wrong.iter().map(|wrong| wrong.path.as_str()).collect()
}

#[test]
fn secrets_in_clear_are_found_in_the_section_and_in_accounts_and_variables_are_fine() {
    let section = json!({
        "botToken": "xoxb-0123456789",
        "appToken": {"source": "env", "id": "YARD_APP"},
        "signingSecret": "",
        "accounts": {
            "night": {"botToken": "${NIGHT}", "appToken": {"source": "exec", "id": "vault"}},
            "odd": 7,
        },
    });
    let wrong = secrets_in_clear(ChannelKind::Slack, &section);
    let expected = [
        "botToken",
        "accounts.night.botToken",
        "accounts.night.appToken",
    ];
    assert_eq!(paths(&wrong), expected);
    assert!(
        wrong[0]
            .hint
            .as_deref()
            .unwrap()
            .contains("chitin channels login slack")
    );
    assert_eq!(
        paths(&secrets_elsewhere(ChannelKind::Slack, &section)),
        ["accounts.night.appToken"],
        "a text is how OpenClaw's own file has it"
    );
}

#[test]
#[cfg(all(feature = "discord", feature = "slack"))]
fn each_account_must_have_what_it_speaks_and_hears_with() {
    use ChannelSecret::{AppToken, BotToken, Signing, Token};
    let night = json!({"accounts": {"night": {}}});
    let discord = plan(
        ChannelKind::Discord,
        night,
        vec![account("default", &[Token]), account("night", &[])],
    );
    let [lack] = &lacks(&discord)[..] else {
        panic!("{:?}", lacks(&discord));
    };
    assert_eq!(lack.path, "accounts.night");
    assert_eq!(lack.message, "The account `night` has no `token`.");
    let slack = |mode: &str, has: &[ChannelSecret]| {
        let accounts = vec![account("default", has)];
        let lacks = lacks(&plan(ChannelKind::Slack, json!({"mode": mode}), accounts));
        lacks
            .into_iter()
            .map(|lack| lack.message)
            .collect::<Vec<_>>()
    };
    assert_eq!(slack("socket", &[BotToken, AppToken]), [""; 0]);
    assert_eq!(slack("http", &[BotToken, Signing]), [""; 0]);
    assert!(slack("socket", &[BotToken, Signing])[0].contains("`appToken`"));
    assert!(slack("http", &[BotToken, AppToken])[0].contains("`signingSecret`"));
    assert!(slack("http", &[Signing])[0].contains("`botToken`"));
}

/// The table of keys and the networks are two programs: they must not drift apart.
#[test]
#[cfg(all(feature = "discord", feature = "slack"))]
fn the_table_calls_exactly_those_switches_effective_that_the_network_reads() {
    use chitin_config::{IssueSeverity, LoadedChitinConfig, channel_issues};
    let groups = [
        "channelInfo",
        "channels",
        "emojiList",
        "emojiUploads",
        "events",
        "memberInfo",
        "messages",
        "moderation",
        "permissions",
        "pins",
        "polls",
        "presence",
        "reactions",
        "roleInfo",
        "roles",
        "search",
        "stickerUploads",
        "stickers",
        "threads",
        "voiceStatus",
    ];
    let intents = ["guildMembers", "messageContent", "presence", "voiceStates"];
    let groups = groups.map(|group| ("actions", group)).into_iter();
    let keys = groups.chain(intents.map(|intent| ("intents", intent)));
    for (object, key) in keys {
        for kind in ChannelKind::ALL {
            if kind == ChannelKind::Slack && object == "intents" {
                continue;
            }
            let section = json!({object: {key: 7}});
            let read = !unusable(kind, &section).is_empty();
            let own = LoadedChitinConfig {
                path: "chitin.json5".into(),
                config: chitin_protocol::config::ChitinConfig::default(),
                value: json!({"channels": {kind.id(): section}}),
                files: Vec::new(),
                issues: Vec::new(),
            };
            let issues = channel_issues(&own);
            let counts = issues
                .iter()
                .any(|issue| issue.severity == IssueSeverity::Error);
            assert_eq!(counts, read, "{} {object}.{key}: {issues:?}", kind.id());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_secret_is_ever_quoted(secret in "[!-~]{0,20}#9[!-~]{8,20}", kind in prop_oneof![Just(ChannelKind::Discord), Just(ChannelKind::Slack)]) {
        let key = kind.secrets()[0].key();
        let section = json!({key: secret, "accounts": {"night": {key: secret}}});
        let said = format!("{:?}{:?}", secrets_in_clear(kind, &section), unusable(kind, &section));
        prop_assert!(!said.contains(&secret), "{said}");
    }
}
