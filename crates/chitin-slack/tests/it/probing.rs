//! What is asked before anybody relies on it.

use crate::yard::{Yard, tokens};
use chitin_gateway::surface::Network;
use chitin_slack::{Slack, SlackNotes, SlackSettings};
use chitin_test::slack::FakeSlack;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

#[tokio::test]
async fn slack_is_asked_who_we_are_and_what_is_missing() {
    let yard = Yard::open(&json!({}), &[]).await;
    yard.slack
        .scopes("chat:write, users:read,channels:history,im:history");
    yard.slack.refuse(
        "apps.connections.open",
        "missing_scope",
        Some("connections:write"),
    );
    let probed = yard.surface.probe().await;
    assert_eq!(probed[0].name.as_deref(), Some("chitin"));
    assert_eq!(
        probed[0].works,
        ["The bot token is that of `chitin` in `Yard`."]
    );
    let lacks = format!("{:?}", probed[0].lacks);
    assert!(
        lacks.contains("`files:write`") && lacks.contains("`connections:write`"),
        "{lacks}"
    );
    assert!(!lacks.contains("`users:read`"), "{lacks}");
    assert!(yard.slack.calls("chat.postMessage").is_empty());
}

#[tokio::test]
async fn accounts_without_what_they_need_say_so() {
    let slack = FakeSlack::start();
    let section = json!({
        "apiUrl": slack.api_url(),
        "accounts": {"bare": {}, "no-app": {}, "no-secret": {"mode": "http"}, "off": {"enabled": false}},
    });
    let settings = SlackSettings::read(&section).unwrap();
    let note: SlackNotes = Arc::new(|_| {});
    let mut poor = tokens();
    (poor.app, poor.signing_secret) = (None, None);
    let given =
        BTreeMap::from(["no-app", "no-secret", "off"].map(|id| (id.to_owned(), poor.clone())));
    let surface = Slack::new(&settings, given, &note).unwrap();
    let probed = surface.probe().await;
    let lacking = |id: &str| {
        let found = probed.iter().find(|probed| probed.account_id == id);
        found.map(|probed| format!("{:?}", probed.lacks))
    };
    assert!(lacking("bare").unwrap().contains("no bot token"));
    assert!(lacking("no-app").unwrap().contains("no app token"));
    assert!(lacking("no-secret").unwrap().contains("no signing secret"));
    assert_eq!(lacking("off"), None);
}
