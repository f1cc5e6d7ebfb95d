//! What Discord, or somebody in its place, should never send.

use crate::yard::Yard;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Odd events, and odd texts that are no events; what is said afterwards is heard.
#[tokio::test]
async fn malformed_events_are_left_out_and_counted() {
    let yard = Yard::open(&[json!({"text": "Still here."})]).await;
    for data in [
        json!(null),
        json!([]),
        json!("text"),
        json!({}),
        json!({"id": "0", "channel_id": "1", "author": {"id": "2", "username": "x"}}),
        json!({"id": "1", "channel_id": {}, "author": null, "content": 5}),
        json!({"id": "-1", "channel_id": "x", "author": {"id": [], "username": 7}}),
    ] {
        for name in [
            "MESSAGE_CREATE",
            "GUILD_CREATE",
            "CHANNEL_UPDATE",
            "THREAD_LIST_SYNC",
            "NO_SUCH_EVENT",
        ] {
            yard.discord.send_event(name, &data);
        }
    }
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"op\": 0}",
        "{\"op\": 0, \"t\": \"MESSAGE_CREATE\"}",
        "{\"op\": 99}",
        "{\"op\":\"x\"}",
    ] {
        yard.discord.send_text(text);
    }
    assert_eq!(
        yard.say_and_wait("Hello?", 1).await,
        [yard.here("Still here.")]
    );
    assert!(
        yard.notes()
            .contains("an event cannot be read and is left out"),
        "{}",
        yard.notes()
    );
    assert_eq!(yard.discord.greetings().0, 1, "the connection was kept");
}

/// A message of which much is broken is still a message.
#[tokio::test]
async fn broken_parts_of_a_message_do_not_take_the_rest_with_them() {
    let yard = Yard::open(&[json!({"text": "Heard.", "expect": {"contains": ["Hi there"]}})]).await;
    let broken = json!({
        "mentions": [null, {"id": "x"}, 7], "attachments": [{"filename": 7}, null], "embeds": "none", "member": null,
        "mention_roles": null, "referenced_message": null, "sticker_items": [{}], "message_snapshots": [{"message": {}}],
    });
    yard.discord
        .saying(&yard.channel, &yard.ada, "Hi there")
        .with(broken)
        .say();
    assert_eq!(yard.discord.until_posted(1).await, [yard.here("Heard.")]);
}

/// A token is nowhere to be seen: not in notes, not in what is shown of the surface, not in errors.
#[tokio::test]
async fn a_token_is_never_shown() {
    let mut yard = Yard::open(&[]).await;
    yard.discord.revoke_token();
    yard.until_over().await;
    let error = yard.other("channel-info", json!({})).await;
    let shown = format!(
        "{} {:?} {error:?} {:?}",
        yard.notes(),
        yard.surface,
        chitin_gateway::surface::Network::accounts(&*yard.surface)
    );
    assert!(!shown.contains(chitin_test::discord::TOKEN), "{shown}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[0-9]{1,22}".prop_map(Value::from),
        "(<@!?[0-9]*>?|<#[0-9]*>?|[<>@&#!é👍a ]){0,8}".prop_map(Value::from),
    ];
    let fields = [
        "id",
        "channel_id",
        "guild_id",
        "author",
        "content",
        "type",
        "mentions",
        "username",
        "attachments",
        "url",
        "message",
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(fields.to_vec()), inner), 0..6).prop_map(
                |fields| {
                    Value::Object(
                        fields
                            .into_iter()
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect(),
                    )
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    /// Whatever comes in events, what is said afterwards is heard.
    #[test]
    fn no_event_stops_the_listening(events in prop::collection::vec((0usize..4, any_json()), 60)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let yard = Yard::open(&[json!({"when": "The end?", "text": "Still here."}), json!({"text": "NO_REPLY", "times": 0})]).await;
            let names = ["MESSAGE_CREATE", "GUILD_CREATE", "THREAD_CREATE", "READY"];
            for (name, data) in &events {
                // A second READY with another session would be another story.
                let name = if *name == 3 && data.get("session_id").is_none() { 0 } else { *name };
                yard.discord.send_event(names[name], data);
            }
            yard.say_and_wait("The end?", 1).await;
        });
    }
}
