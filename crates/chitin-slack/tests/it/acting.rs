//! What else is done on Slack: reactions, reading, threads, pins, files.

use crate::speaking::{act, message, yard};
use crate::yard::{Yard, channel};
use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Surface, SurfaceError};
use serde_json::{Value, json};
use std::collections::BTreeMap;

async fn other(yard: &Yard, name: &str, fields: Value) -> Result<SurfaceOutcome, SurfaceError> {
    let fields: BTreeMap<String, Value> = serde_json::from_value(fields).unwrap();
    let name = name.to_owned();
    act(yard, SurfaceAction::Other { name, fields }).await
}

#[tokio::test]
async fn reactions_go_by_name_and_twice_is_once() {
    let yard = yard().await;
    let ts = yard.write("U1", "Well done", &json!({}));
    let react = |emoji: &str, remove: bool| SurfaceAction::React {
        message_id: ts.clone(),
        emoji: emoji.to_owned(),
        remove,
    };
    for (emoji, remove) in [
        ("👀", false),
        (":eyes:", false),
        ("tada", false),
        ("👀", true),
        ("👀", true),
    ] {
        assert_eq!(
            act(&yard, react(emoji, remove)).await.unwrap(),
            SurfaceOutcome::Done
        );
    }
    let SurfaceOutcome::Other { value } = other(&yard, "reactions", json!({"messageId": ts}))
        .await
        .unwrap()
    else {
        unreachable!()
    };
    assert_eq!(value, json!({"reactions": [{"name": "tada", "count": 1}]}));
    let error = act(&yard, react("🦩", false)).await.unwrap_err();
    assert!(error.message.contains("by name"), "{}", error.message);
}

#[tokio::test]
async fn what_was_said_is_read_the_newest_last() {
    let yard = yard().await;
    for number in 1..=5 {
        yard.write("U1", &format!("Plank {number} &amp; more"), &json!({}));
    }
    let root = yard.write("U2", "A thread", &json!({}));
    yard.write("U1", "In it", &json!({"thread_ts": root}));
    let ours = message("k", "Ours");
    yard.surface.send(&channel("C1"), &ours).await.unwrap();
    let read = |limit, before: Option<&str>| SurfaceAction::Read {
        limit,
        before: before.map(str::to_owned),
    };
    let texts = |done: SurfaceOutcome| match done {
        SurfaceOutcome::Said { messages } => messages
            .iter()
            .map(|past| {
                format!(
                    "{}{}: {}",
                    past.sender.as_deref().unwrap(),
                    if past.own { " (we)" } else { "" },
                    past.text
                )
            })
            .collect::<Vec<_>>(),
        other => unreachable!("{other:?}"),
    };
    assert_eq!(
        texts(act(&yard, read(3, None)).await.unwrap()),
        ["Ada: Plank 5 & more", "Ben: A thread", "Chitin (we): Ours"]
    );
    assert_eq!(
        texts(act(&yard, read(2, Some(&root))).await.unwrap()),
        ["Ada: Plank 4 & more", "Ada: Plank 5 & more"]
    );
    // Slack tells a thread from its beginning, and the newest of it are wanted.
    yard.write("U2", "Still in it", &json!({"thread_ts": root}));
    let mut thread = channel("C1");
    thread.thread_id = Some(root.clone());
    assert_eq!(
        texts(yard.surface.act(&thread, &read(2, None)).await.unwrap()),
        ["Ada: In it", "Ben: Still in it"]
    );
    let SurfaceOutcome::Other { value } = other(&yard, "thread-list", json!({})).await.unwrap()
    else {
        unreachable!()
    };
    assert_eq!(value["threads"][0]["threadId"], root);
    assert_eq!(value["threads"][0]["replies"], 2);
}

#[tokio::test]
async fn threads_pins_and_what_is_ours_can_be_handled() {
    let yard = yard().await;
    let SurfaceOutcome::Thread { address } = act(
        &yard,
        SurfaceAction::ThreadCreate {
            name: "The planks".to_owned(),
            message_id: None,
            auto_archive_min: None,
        },
    )
    .await
    .unwrap() else {
        unreachable!()
    };
    let sent = yard
        .surface
        .send(&address, &message("k", "First"))
        .await
        .unwrap();
    let root = address.thread_id.clone().unwrap();
    assert_eq!(
        yard.slack.said(),
        ["C1: The planks".to_owned(), format!("C1/{root}: First")]
    );
    let about = json!({"messageId": sent.message_id});
    for name in ["pin", "pin"] {
        assert_eq!(
            other(&yard, name, about.clone()).await.unwrap(),
            SurfaceOutcome::Done
        );
    }
    let SurfaceOutcome::Other { value } = other(&yard, "list-pins", json!({})).await.unwrap()
    else {
        unreachable!()
    };
    assert_eq!(value["pins"][0]["text"], "First");
    for name in ["unpin", "unpin", "delete"] {
        assert_eq!(
            other(&yard, name, about.clone()).await.unwrap(),
            SurfaceOutcome::Done
        );
    }
    assert_eq!(yard.slack.said(), ["C1: The planks"]);
    assert!(other(&yard, "delete", json!({})).await.is_err());
    assert!(
        other(&yard, "search", json!({})).await.is_err(),
        "a bot may not search"
    );
}

#[tokio::test]
async fn a_file_of_a_message_is_fetched_by_name_or_number() {
    let yard = yard().await;
    let one = yard.slack.file("one.txt", "text/plain", b"1");
    let two = yard.slack.file("two.pdf", "application/pdf", b"22");
    let root = yard.write("U1", "Files below", &json!({}));
    let fields = json!({"files": [one, two], "thread_ts": root});
    let ts = yard.write("U1", "Here", &fields);
    let fetch = |file: Option<&str>| SurfaceAction::Download {
        message_id: ts.clone(),
        file: file.map(str::to_owned),
    };
    for (which, name, bytes) in [("two.pdf", "two.pdf", "22"), ("1", "one.txt", "1")] {
        let SurfaceOutcome::File { file } = act(&yard, fetch(Some(which))).await.unwrap() else {
            unreachable!()
        };
        assert_eq!((file.name.as_str(), &*file.bytes), (name, bytes.as_bytes()));
    }
    let error = act(&yard, fetch(None)).await.unwrap_err();
    assert!(
        error.message.contains("`one.txt`, `two.pdf`"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn actions_that_are_switched_off_are_neither_shown_nor_done() {
    let yard = Yard::open(
        &json!({"actions": {"reactions": false, "pins": false}}),
        &[],
    )
    .await;
    let actions = yard.surface.capabilities().actions.join(" ");
    assert_eq!(
        actions,
        "send broadcast reply edit delete read thread-create thread-reply thread-list download-file member-info emoji-list"
    );
    let ts = yard.write("U1", "Hi", &json!({}));
    let error = other(&yard, "pin", json!({"messageId": ts}))
        .await
        .unwrap_err();
    assert!(error.message.contains("`pin`"));
    assert!(yard.slack.calls("pins.add").is_empty());
}
