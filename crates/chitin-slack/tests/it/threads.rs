//! Where answers stand, and what the session of a thread begins with (E11, E13, R77).

use crate::yard::Yard;
use chitin_store::SessionStore;
use serde_json::json;

/// `all`: every answer is a thread, and what people write there is a session of its own that knows what was said before.
#[tokio::test]
async fn every_message_becomes_a_thread_with_a_session_of_its_own() {
    let replies = [
        json!({"text": "Larch."}),
        json!({"text": "Five.", "expect": {"contains": ["Ada: Which wood?", "you: Larch.", "How many?"]}}),
        json!({"text": "Oak."}),
        json!({"text": "None."}),
    ];
    let yard = Yard::open(&json!({"replyToMode": "all"}), &replies).await;
    let first = yard.slack.say("C1", "U1", "Which wood?");
    let mut said = vec![format!("C1/{first}: Larch.")];
    yard.until_said(&said).await;
    yard.slack.reply("C1", "U1", &first, "How many?");
    said.push(format!("C1/{first}: Five."));
    yard.until_said(&said).await;
    let second = yard.slack.say("C1", "U2", "And for the mast?");
    said.push(format!("C1/{second}: Oak."));
    yard.until_said(&said).await;
    yard.slack.reply("C1", "U2", &second, "How many of it?");
    said.push(format!("C1/{second}: None."));
    yard.until_said(&said).await;
    for key in [
        "agent:main:slack:channel:c1".to_owned(),
        format!("agent:main:slack:channel:c1:thread:{first}"),
        format!("agent:main:slack:channel:c1:thread:{second}"),
    ] {
        assert!(yard.has_session(&key), "{key}");
    }
}

#[tokio::test]
async fn off_answers_beside_the_message_and_in_a_thread_where_it_was_asked() {
    let replies = [json!({"text": "Larch."}), json!({"text": "Five."})];
    let yard = Yard::open(&json!({"replyToMode": "off"}), &replies).await;
    let first = yard.slack.say("C1", "U1", "Which wood?");
    let mut said = vec!["C1: Larch.".to_owned()];
    yard.until_said(&said).await;
    yard.slack.reply("C1", "U1", &first, "How many?");
    said.push(format!("C1/{first}: Five."));
    yard.until_said(&said).await;
    assert!(yard.has_session(&format!("agent:main:slack:channel:c1:thread:{first}")));
}

/// `first`: the first answer of a turn replies to the message, the others stand in the channel.
#[tokio::test]
async fn first_replies_once_and_goes_on_in_the_channel() {
    let replies = [
        json!({"text": "Looking.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Larch."}),
    ];
    let yard = Yard::open(&json!({"replyToMode": "first"}), &replies).await;
    let first = yard.slack.say("C1", "U1", "Which wood?");
    yard.until_said(&[format!("C1/{first}: Looking."), "C1: Larch.".to_owned()])
        .await;
    assert!(!yard.has_session(&format!("agent:main:slack:channel:c1:thread:{first}")));
}

/// A thread of 250 messages comes in pages, from its beginning; the session begins with the newest.
#[tokio::test]
async fn a_threads_session_begins_with_as_much_of_its_past_as_is_configured() {
    let section = json!({"replyToMode": "all", "thread": {"initialHistoryLimit": 3}});
    let replies = [
        json!({"text": "Noted.", "expect": {"contains": ["Ben: Plank 248", "Ben: Plank 250", "Which was last?"]}}),
    ];
    let yard = Yard::open(&section, &replies).await;
    let root = yard.slack.keep("C1", "U2", "The planks", &json!({}));
    let root = root["ts"].as_str().unwrap();
    for number in 1..=250 {
        let fields = json!({"thread_ts": root});
        yard.slack
            .keep("C1", "U2", &format!("Plank {number}"), &fields);
    }
    yard.slack.reply("C1", "U1", root, "Which was last?");
    yard.until_said(&[format!("C1/{root}: Noted.")]).await;
    let store = yard.stage.host.file_store("main");
    let key = format!("agent:main:slack:channel:c1:thread:{root}");
    let told = format!("{:?}", store.read(&key).unwrap().entries);
    assert!(!told.contains("Plank 247"), "three and no more");
    assert_eq!(
        yard.slack.calls("users.info").len(),
        2,
        "names are asked for once"
    );
}

#[tokio::test]
async fn a_direct_message_is_the_persons_own_conversation() {
    let replies = [json!({"text": "Hello."}), json!({"text": "Again."})];
    let yard = Yard::open(
        &json!({"replyToModeByChatType": {"direct": "off"}}),
        &replies,
    )
    .await;
    yard.slack.add_room("D9", "", "im");
    yard.slack.say("D9", "U1", "Hi");
    yard.until_said(&["D9: Hello.".to_owned()]).await;
    assert!(yard.has_session("agent:main:slack:direct:u1"));
    // A place that names the person is the same conversation.
    let to = crate::yard::place(chitin_protocol::session_key::ChatType::Direct, "U1");
    let message = chitin_gateway::OutgoingMessage {
        key: "k".to_owned(),
        text: "By the way.".to_owned(),
        ..chitin_gateway::OutgoingMessage::default()
    };
    chitin_gateway::Surface::send(&*yard.surface, &to, &message)
        .await
        .unwrap();
    assert_eq!(yard.slack.said(), ["D9: Hello.", "D9: By the way."]);
    assert!(yard.slack.calls("conversations.open").is_empty());
}

/// Where we have to be named, a thread that we spoke in needs no name; after a restart Slack is asked for it, once for each thread.
#[tokio::test]
async fn a_thread_that_we_spoke_in_is_followed_and_a_thread_of_others_is_not() {
    let section = json!({
        "replyToMode": "all", "requireMention": true, "channels": {"*": {"requireMention": true}},
    });
    let replies = [json!({"text": "Larch."}), json!({"text": "Five."})];
    let yard = Yard::open(&section, &replies).await;
    let ours = yard.slack.say("C1", "U1", "<@UBOT> Which wood?");
    yard.until_said(&[format!("C1/{ours}: Larch.")]).await;
    yard.slack.reply("C1", "U2", &ours, "How many?");
    let mut said = vec![format!("C1/{ours}: Larch."), format!("C1/{ours}: Five.")];
    yard.until_said(&said).await;
    let theirs = yard.slack.say("C1", "U1", "Lunch?");
    yard.slack.reply("C1", "U2", &theirs, "At noon.");
    yard.slack.reply("C1", "U1", &theirs, "Good.");
    yard.slack.until_acknowledged().await;
    assert_eq!(
        yard.slack.calls("conversations.replies").len(),
        2,
        "one for the past of ours, one for theirs"
    );
    yard.cancel.cancel();
    let again = Yard::begin(yard.ended().await, &section, &[json!({"text": "Oak."})]);
    again.slack.until_connected(1).await;
    again.slack.reply("C1", "U1", &theirs, "See you.");
    again.slack.reply("C1", "U1", &ours, "And the mast?");
    said.push(format!("C1/{ours}: Oak."));
    again.until_said(&said).await;
}
