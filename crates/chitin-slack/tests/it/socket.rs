//! Socket Mode: nothing is lost and nothing is done twice, whatever the connection does.

use crate::yard::Yard;
use chitin_gateway::surface::{Connection, Network};
use chitin_test::slack::FakeSlack;
use serde_json::{Value, json};
use std::time::Duration;

fn off() -> Value {
    json!({"replyToMode": "off"})
}

fn answers(count: usize) -> Vec<Value> {
    (1..=count)
        .map(|n| json!({"text": format!("Answer {n}.")}))
        .collect()
}

fn said(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("C1: Answer {n}.")).collect()
}

#[tokio::test]
async fn an_answer_goes_on_while_the_connection_breaks_and_the_next_message_is_heard() {
    let replies = [
        json!({"text": "Looking.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Larch.", "delayMs": 300}),
        json!({"text": "Oak."}),
    ];
    let yard = Yard::open(&off(), &replies).await;
    yard.slack.say("C1", "U1", "Which wood?");
    yard.slack.until_posted(1).await;
    yard.slack.break_connections();
    // Nobody is connected: Slack keeps it.
    yard.slack.say("C1", "U1", "And the mast?");
    let all = ["C1: Looking.", "C1: Larch.", "C1: Oak."].map(str::to_owned);
    yard.until_said(&all).await;
    yard.slack.until_acknowledged().await;
    assert_eq!(yard.surface.accounts()[0].connection, Connection::Connected);
}

/// Slack says that it is about to close the connection. What it still sends there is heard, and a new one is open before the old one goes.
#[tokio::test]
async fn a_connection_that_slack_moves_loses_nothing() {
    let yard = Yard::open(&off(), &answers(3)).await;
    for (number, reason) in ["warning", "refresh_requested"].into_iter().enumerate() {
        yard.slack.disconnect(reason);
        yard.slack.say("C1", "U1", "On the old one?");
        yard.slack.until_connected(2).await;
        yard.until_said(&said(number + 1)).await;
        yard.slack.close_oldest();
        yard.slack
            .until("one is left", |state| {
                (state.open_connections() == 1).then_some(())
            })
            .await;
    }
    yard.slack.say("C1", "U1", "On the new one?");
    yard.until_said(&said(3)).await;
    yard.slack.until_acknowledged().await;
    assert_eq!(yard.surface.accounts()[0].connection, Connection::Connected);
}

#[tokio::test]
async fn a_message_that_comes_again_and_again_is_one_turn() {
    let yard = Yard::open(&off(), &answers(2)).await;
    let event = yard.slack.keep("C1", "U1", "<@UBOT> Once?", &json!({}));
    let id = yard.slack.tell(&event);
    // The same event twice more, and the same message as a mention, which says less of its place.
    yard.slack.tell_again(&event, &id);
    let mut mention = event.clone();
    mention["type"] = json!("app_mention");
    mention.as_object_mut().unwrap().remove("channel_type");
    yard.slack.tell(&mention);
    yard.slack.until_acknowledged().await;
    yard.slack.tell_again(&event, &id);
    yard.until_said(&said(1)).await;
    yard.slack.until_acknowledged().await;
    yard.slack.say("C1", "U1", "Another.");
    yard.until_said(&said(2)).await;
}

/// What takes longer than Slack waits is sent again, and recognised.
#[tokio::test]
async fn a_message_is_acknowledged_when_it_is_on_the_disk_and_not_before() {
    let yard = Yard::open(&off(), &answers(1)).await;
    yard.slack.ack_within(Duration::from_millis(100));
    yard.slack.delay("users.info", Duration::from_millis(500));
    yard.slack.say("C1", "U1", "Slow?");
    yard.slack
        .until("told again", |state| {
            let again = state.pending.values().any(|pending| pending.told > 1);
            assert!(!again || state.acknowledged.is_empty());
            again.then_some(())
        })
        .await;
    yard.until_said(&said(1)).await;
    yard.slack.until_acknowledged().await;
}

#[tokio::test]
async fn messages_of_one_channel_keep_their_order() {
    let yard = Yard::open(&off(), &answers(2)).await;
    // The name of the first sender comes late.
    yard.slack.delay("users.info", Duration::from_millis(200));
    yard.slack.say("C1", "U1", "First");
    yard.slack.say("C1", "U2", "Second");
    yard.until_said(&said(2)).await;
    let store = yard.stage.host.file_store("main");
    let read = chitin_store::SessionStore::read(&store, "agent:main:slack:channel:c1").unwrap();
    let told = format!("{:?}", read.entries);
    assert!(told.find("First").unwrap() < told.find("Second").unwrap());
}

#[tokio::test]
async fn what_cannot_be_understood_is_said_and_hurts_nobody() {
    let yard = Yard::open(&off(), &answers(1)).await;
    for odd in [
        "no json",
        "[]",
        r#"{"type":"events_api"}"#,
        r#"{"type":"events_api","envelope_id":"a b","payload":{}}"#,
        r#"{"type":"events_api","envelope_id":"e1","payload":{"type":"event_callback"}}"#,
        r#"{"type":"events_api","envelope_id":"e2","payload":{"type":"event_callback","event":{"type":"message","channel":"../x","ts":"1.1"}}}"#,
        r#"{"type":"events_api","envelope_id":"e3","payload":{"type":"event_callback","event":{"type":"message","channel":"C1","ts":"now"}}}"#,
        r#"{"type":"slash_commands","envelope_id":"e4","payload":{}}"#,
    ] {
        yard.slack.raw(odd);
    }
    yard.slack.say("C1", "U1", "Still there?");
    yard.until_said(&said(1)).await;
    // Those with a name are acknowledged: they would be the same the next time.
    let acknowledged = yard
        .slack
        .until("four", |state| {
            (state.odd.len() >= 4).then(|| state.odd.join(" "))
        })
        .await;
    for id in ["e1", "e2", "e3", "e4"] {
        assert!(acknowledged.contains(id), "{acknowledged}");
    }
    let notes = yard.notes();
    for said in [
        "no JSON",
        "without a name",
        "without a channel",
        "without a time",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

#[tokio::test]
async fn a_token_that_was_taken_back_ends_it_with_words() {
    let yard = Yard::open(&off(), &[]).await;
    yard.slack.revoke("token_revoked");
    yard.slack.break_connections();
    let connection = yard
        .until_stands(|connection| matches!(connection, Connection::Failed { .. }))
        .await;
    let Connection::Failed { reason, hint } = connection else {
        unreachable!()
    };
    assert!(
        reason.contains("taken back") && reason.contains("token_revoked"),
        "{reason}"
    );
    assert!(hint.unwrap().contains("new token"));
    assert!(
        !yard.notes().contains("fake"),
        "no token is shown: {}",
        yard.notes()
    );
    yard.ended().await;
}

#[tokio::test]
async fn tokens_that_never_worked_and_a_mode_that_is_off_are_said() {
    for (code, word) in [
        ("invalid_auth", "not one of Slack's"),
        ("account_inactive", "no longer"),
        ("missing_scope", "connections:write"),
    ] {
        let slack = FakeSlack::start();
        slack.refuse("apps.connections.open", code, Some("connections:write"));
        let yard = Yard::begin(slack, &off(), &[]);
        let surface = yard.surface.clone();
        yard.ended().await;
        let connection = format!("{:?}", surface.accounts()[0].connection);
        assert!(
            connection.contains("Failed") && connection.contains(word),
            "{connection}"
        );
    }
    let yard = Yard::open(&off(), &[]).await;
    yard.slack.disconnect("link_disabled");
    let surface = yard.surface.clone();
    yard.ended().await;
    assert!(format!("{:?}", surface.accounts()).contains("Switch Socket Mode on"));
}

#[tokio::test]
async fn a_slack_that_is_in_trouble_is_tried_again() {
    let slack = FakeSlack::start();
    slack.status("auth.test", 502);
    slack.limit("apps.connections.open", 1);
    let yard = Yard::begin(slack, &off(), &answers(1));
    yard.slack.until_connected(1).await;
    yard.slack.say("C1", "U1", "There?");
    yard.until_said(&said(1)).await;
    let notes = yard.notes();
    assert!(
        notes.contains("502") && notes.contains("1 seconds of rest"),
        "{notes}"
    );
}

/// What a gateway that ends cannot take is not acknowledged: Slack tells it whoever comes next.
#[tokio::test]
async fn what_comes_while_everything_ends_is_left_to_slack() {
    let yard = Yard::open(&off(), &answers(1)).await;
    yard.stage.gateway.drain(Duration::from_millis(10)).await;
    yard.slack.say("C1", "U1", "Too late?");
    yard.slack
        .until("the message was looked at", |state| {
            (!state.calls_of("conversations.info").is_empty()).then_some(())
        })
        .await;
    yard.cancel.cancel();
    let slack = yard.ended().await;
    slack
        .until("the connection is closed", |state| {
            (state.open_connections() == 0).then_some(())
        })
        .await;
    slack
        .until("it is kept", |state| {
            (state.pending.len() == 1).then_some(())
        })
        .await;
}
