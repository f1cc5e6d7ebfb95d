//! What is done on Slack: messages, files, changes, reactions, and what is said when Slack says no.

use crate::yard::{Yard, channel, place};
use chitin_gateway::surface::{Action, Again, Done, File, Network};
use chitin_gateway::{Outgoing, Sent, Surface, SurfaceError};
use chitin_protocol::session_key::ChatType;
use serde_json::{Value, json};
use std::collections::BTreeMap;

async fn yard() -> Yard {
    Yard::open(json!({"replyToMode": "off", "mediaMaxMb": 1}), &[]).await
}

fn message(key: &str, text: &str) -> Outgoing {
    Outgoing {
        key: key.to_owned(),
        text: text.to_owned(),
        ..Outgoing::default()
    }
}

async fn send(yard: &Yard, message: Outgoing) -> Result<Sent, SurfaceError> {
    yard.surface.send(&channel("C1"), &message).await
}

async fn act(yard: &Yard, action: Action) -> Result<Done, SurfaceError> {
    yard.surface.act(&channel("C1"), &action).await
}

async fn other(yard: &Yard, name: &str, fields: Value) -> Result<Done, SurfaceError> {
    let fields: BTreeMap<String, Value> = serde_json::from_value(fields).unwrap();
    let name = name.to_owned();
    act(yard, Action::Other { name, fields }).await
}

#[tokio::test]
async fn the_same_message_sent_twice_is_one() {
    let yard = yard().await;
    let first = send(&yard, message("k1", "Hello")).await.unwrap();
    let again = send(&yard, message("k1", "Hello")).await.unwrap();
    assert_eq!(first, again);
    send(&yard, message("k2", "Hello")).await.unwrap();
    assert_eq!(yard.slack.said(), ["C1: Hello", "C1: Hello"]);
    let call = &yard.slack.calls("chat.postMessage")[0];
    assert_eq!(call.arguments["unfurl_links"], "false");
}

#[tokio::test]
async fn slack_says_how_long_to_wait_and_the_gateway_hears_it() {
    let yard = yard().await;
    yard.slack.limit("chat.postMessage", 7);
    let error = send(&yard, message("k1", "Hello")).await.unwrap_err();
    assert_eq!(error.again, Again::After(7_000));
    yard.slack.status("chat.postMessage", 503);
    let error = send(&yard, message("k1", "Hello")).await.unwrap_err();
    assert_eq!(error.again, Again::Soon);
    send(&yard, message("k1", "Hello")).await.unwrap();
    assert_eq!(yard.slack.said(), ["C1: Hello"]);
}

/// The whole way: an answer is limited, waits, and is there once.
#[tokio::test]
async fn an_answer_that_is_limited_comes_later_and_once() {
    let yard = Yard::open(json!({"replyToMode": "off"}), &[json!({"text": "Larch."})]).await;
    yard.slack.limit("chat.postMessage", 1);
    yard.slack.say("C1", "U1", "Which wood?");
    yard.until_said(&["C1: Larch.".to_owned()]).await;
    assert_eq!(yard.slack.calls("chat.postMessage").len(), 2);
}

#[tokio::test]
async fn what_slack_refuses_is_said_with_what_to_do() {
    let yard = yard().await;
    for (code, needed, words) in [
        ("not_in_channel", None, "Invite it there with `/invite`."),
        ("channel_not_found", None, "there is no such channel"),
        ("msg_too_long", None, "the message is too long"),
        (
            "missing_scope",
            Some("chat:write"),
            "Add `chat:write` to the app's scopes",
        ),
        ("something_new", None, "`something_new`"),
    ] {
        yard.slack.refuse("chat.postMessage", code, needed);
        let error = send(&yard, message("k1", "Hello")).await.unwrap_err();
        assert_eq!(error.again, Again::Never);
        assert!(error.message.contains(words), "{}", error.message);
        assert!(
            error.message.contains("`chat.postMessage`"),
            "{}",
            error.message
        );
    }
    for (to, words) in [("C404", "no such channel"), ("../auth", "no id on Slack")] {
        let sent = yard.surface.send(&channel(to), &message("k", "Hi")).await;
        let error = sent.unwrap_err();
        assert!(error.message.contains(words), "{}", error.message);
    }
}

#[tokio::test]
async fn files_go_up_beside_their_message() {
    let yard = yard().await;
    let file = |name: &str, bytes: Vec<u8>| File {
        name: name.to_owned(),
        mime: "text/plain".to_owned(),
        bytes: bytes.into(),
    };
    let mut with_files = message("k1", "Here:");
    with_files.files = vec![
        file("a.txt", b"one".to_vec()),
        file("b.txt", b"two".to_vec()),
    ];
    with_files.reply_to = Some(yard.slack.say("C1", "U1", "Files?"));
    // The upload fails half way: the text is not said again.
    yard.slack.status("files.completeUploadExternal", 502);
    let error = send(&yard, with_files.clone()).await.unwrap_err();
    assert_eq!(error.again, Again::Soon);
    send(&yard, with_files.clone()).await.unwrap();
    send(&yard, with_files).await.unwrap();
    let posted = yard.slack.posted();
    assert_eq!(posted.len(), 2, "{posted:?}");
    assert_eq!(posted[0].text, "Here:");
    assert_eq!(posted[1].files, ["a.txt", "b.txt"]);
    assert_eq!(posted[0].thread, posted[1].thread);
    assert_eq!(yard.slack.bytes_of("b.txt").unwrap(), b"two");
    for (bad, words) in [
        (
            vec![file("large.bin", vec![0; (1 << 20) + 1])],
            "1048577 bytes; `mediaMaxMb` allows 1048576",
        ),
        (vec![file("empty.txt", Vec::new())], "is empty"),
        (vec![file("x", b"x".to_vec()); 11], "11 files; 10 go"),
    ] {
        let mut refused = message("k2", "Here:");
        refused.files = bad;
        let error = send(&yard, refused).await.unwrap_err();
        assert_eq!(error.again, Again::Never);
        assert!(error.message.contains(words), "{}", error.message);
    }
    assert_eq!(yard.slack.posted().len(), 2, "nothing half-said");
}

#[tokio::test]
async fn a_message_is_changed_and_no_change_wakes_everybody() {
    let yard = yard().await;
    let sent = send(&yard, message("k1", "Lar")).await.unwrap();
    let edit = |id: &str, text: &str| Action::Edit {
        message_id: id.to_owned(),
        text: text.to_owned(),
    };
    act(&yard, edit(&sent.message_id, "Larch <!here>"))
        .await
        .unwrap();
    assert_eq!(yard.slack.said(), ["C1: Larch &lt;!here>"]);
    let theirs = yard.slack.say("C1", "U1", "Mine");
    let error = act(&yard, edit(&theirs, "Ours")).await.unwrap_err();
    assert!(error.message.contains("not ours"), "{}", error.message);
    let error = act(&yard, edit("../1", "x")).await.unwrap_err();
    assert!(
        error.message.contains("no message on Slack"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn reactions_go_by_name_and_twice_is_once() {
    let yard = yard().await;
    let ts = yard.slack.say("C1", "U1", "Well done");
    let react = |emoji: &str, remove: bool| Action::React {
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
        assert_eq!(act(&yard, react(emoji, remove)).await.unwrap(), Done::Done);
    }
    let Done::Other { value } = other(&yard, "reactions", json!({"messageId": ts}))
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
        yard.slack
            .say("C1", "U1", &format!("Plank {number} &amp; more"));
    }
    let root = yard.slack.say("C1", "U2", "A thread");
    yard.slack.reply("C1", "U1", &root, "In it");
    send(&yard, message("k", "Ours")).await.unwrap();
    let read = |limit, before: Option<&str>| Action::Read {
        limit,
        before: before.map(str::to_owned),
    };
    let texts = |done: Done| match done {
        Done::Said { messages } => messages
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
    let Done::Other { value } = other(&yard, "thread-list", json!({})).await.unwrap() else {
        unreachable!()
    };
    assert_eq!(value["threads"][0]["threadId"], root);
    assert_eq!(value["threads"][0]["replies"], 1);
}

#[tokio::test]
async fn threads_pins_and_what_is_ours_can_be_handled() {
    let yard = yard().await;
    let Done::Thread { address } = act(
        &yard,
        Action::ThreadCreate {
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
        assert_eq!(other(&yard, name, about.clone()).await.unwrap(), Done::Done);
    }
    let Done::Other { value } = other(&yard, "list-pins", json!({})).await.unwrap() else {
        unreachable!()
    };
    assert_eq!(value["pins"][0]["text"], "First");
    for name in ["unpin", "unpin", "delete"] {
        assert_eq!(other(&yard, name, about.clone()).await.unwrap(), Done::Done);
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
    let root = yard.slack.say("C1", "U1", "Files below");
    let fields = json!({"files": [one, two], "thread_ts": root});
    let ts = yard.slack.write("C1", "U1", "Here", fields);
    let fetch = |file: Option<&str>| Action::Download {
        message_id: ts.clone(),
        file: file.map(str::to_owned),
    };
    for (which, name, bytes) in [("two.pdf", "two.pdf", "22"), ("1", "one.txt", "1")] {
        let Done::File { file } = act(&yard, fetch(Some(which))).await.unwrap() else {
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
async fn somebody_new_is_written_to_in_a_conversation_that_is_opened_once() {
    let yard = yard().await;
    let to = place(ChatType::Direct, "U2");
    for key in ["k1", "k2"] {
        yard.surface
            .send(&to, &message(key, "Hello"))
            .await
            .unwrap();
    }
    assert_eq!(yard.slack.said(), ["D2: Hello", "D2: Hello"]);
    assert_eq!(yard.slack.calls("conversations.open").len(), 1);
    let nobody = place(ChatType::Direct, "U404");
    let error = yard
        .surface
        .send(&nobody, &message("k3", "Hi"))
        .await
        .unwrap_err();
    assert!(
        error.message.contains("no such person"),
        "{}",
        error.message
    );
}

#[tokio::test]
async fn actions_that_are_switched_off_are_neither_shown_nor_done() {
    let yard = Yard::open(json!({"actions": {"reactions": false, "pins": false}}), &[]).await;
    let actions = yard.surface.capabilities().actions.join(" ");
    assert_eq!(
        actions,
        "send broadcast reply edit delete read thread-create thread-reply thread-list download-file member-info emoji-list"
    );
    let ts = yard.slack.say("C1", "U1", "Hi");
    let error = other(&yard, "pin", json!({"messageId": ts}))
        .await
        .unwrap_err();
    assert!(error.message.contains("`pin`"));
    assert!(yard.slack.calls("pins.add").is_empty());
}

/// A token that is taken back while we speak: the account says so, and no token is shown anywhere.
#[tokio::test]
async fn a_token_that_is_taken_back_while_we_speak_ends_the_account() {
    let yard = yard().await;
    yard.slack.revoke("account_inactive");
    let error = send(&yard, message("k1", "Hello")).await.unwrap_err();
    assert_eq!(error.again, Again::Never);
    assert!(
        error.message.contains("Install the app again"),
        "{}",
        error.message
    );
    let surface = yard.surface.clone();
    let shown = format!(
        "{:?} {:?} {}",
        surface.accounts(),
        crate::yard::tokens(),
        yard.notes()
    );
    yard.ended().await;
    assert!(
        shown.contains("Failed") && !shown.contains("fake"),
        "{shown}"
    );
}
