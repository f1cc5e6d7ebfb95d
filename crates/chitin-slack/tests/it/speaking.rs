//! What is done on Slack: messages, files, changes, reactions, and what is said when Slack says no.

use crate::yard::{Yard, channel, place};
use chitin_gateway::surface::{Again, Network, OutgoingFile, SurfaceAction, SurfaceOutcome};
use chitin_gateway::{OutgoingMessage, Sent, Surface, SurfaceError};
use chitin_protocol::session_key::ChatType;
use serde_json::json;

pub(crate) async fn yard() -> Yard {
    Yard::open(&json!({"replyToMode": "off", "mediaMaxMb": 1}), &[]).await
}

pub(crate) fn message(key: &str, text: &str) -> OutgoingMessage {
    OutgoingMessage {
        key: key.to_owned(),
        text: text.to_owned(),
        ..OutgoingMessage::default()
    }
}

async fn send(yard: &Yard, message: OutgoingMessage) -> Result<Sent, SurfaceError> {
    yard.surface.send(&channel("C1"), &message).await
}

pub(crate) async fn act(
    yard: &Yard,
    action: SurfaceAction,
) -> Result<SurfaceOutcome, SurfaceError> {
    yard.surface.act(&channel("C1"), &action).await
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
    let yard = Yard::open(&json!({"replyToMode": "off"}), &[json!({"text": "Larch."})]).await;
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
    let file = |name: &str, bytes: Vec<u8>| OutgoingFile {
        name: name.to_owned(),
        mime: "text/plain".to_owned(),
        bytes: bytes.into(),
    };
    let mut with_files = message("k1", "Here:");
    with_files.files = vec![
        file("a.txt", b"one".to_vec()),
        file("b.txt", b"two".to_vec()),
    ];
    with_files.reply_to = Some(yard.write("U1", "Files?", &json!({})));
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
    let edit = |id: &str, text: &str| SurfaceAction::Edit {
        message_id: id.to_owned(),
        text: text.to_owned(),
    };
    act(&yard, edit(&sent.message_id, "Larch <!here>"))
        .await
        .unwrap();
    assert_eq!(yard.slack.said(), ["C1: Larch &lt;!here>"]);
    let theirs = yard.write("U1", "Mine", &json!({}));
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
