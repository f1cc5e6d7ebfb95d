//! What else can be done on Discord.

use crate::yard::{Yard, channel, message};
use chitin_gateway::Surface;
use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome};
use chitin_test::discord::BOT;
use serde_json::{Value, json};

fn yard() -> (Yard, String) {
    let yard = Yard::closed(&[], &json!({}));
    let said = yard
        .discord
        .saying(&yard.channel, &yard.ada, "Five larch")
        .quiet()
        .say();
    (yard, said)
}

#[tokio::test]
async fn signs_are_put_under_a_message_and_taken_away() {
    let (yard, said) = yard();
    let react = |emoji: &str, remove| SurfaceAction::React {
        message_id: said.clone(),
        emoji: emoji.to_owned(),
        remove,
    };
    for (emoji, remove) in [
        ("👍", false),
        ("<:larch:123456789012345678>", false),
        ("👍", true),
    ] {
        yard.act(react(emoji, remove)).await.unwrap();
    }
    let asked: Vec<String> = yard
        .discord
        .asked_for("/reactions/")
        .into_iter()
        .map(|asked| {
            format!(
                "{} {}",
                asked.method,
                asked.path.rsplit("reactions/").next().unwrap()
            )
        })
        .collect();
    assert_eq!(
        asked,
        [
            "PUT %F0%9F%91%8D/@me",
            "PUT larch:123456789012345678/@me",
            "DELETE %F0%9F%91%8D/@me"
        ]
    );
    for odd in ["", "thumbsup", "../../x", "12345"] {
        let error = yard.act(react(odd, false)).await.unwrap_err();
        assert!(
            error.message.starts_with("`emoji` must be one sign"),
            "{odd}"
        );
    }
}

#[tokio::test]
async fn what_was_said_is_read_with_what_hangs_on_it_the_newest_last() {
    let (yard, first) = yard();
    let saying = yard
        .discord
        .saying(&yard.channel, &yard.ada, &format!("<@{BOT}> see"));
    saying
        .file("plan.pdf", "application/pdf", b"%PDF")
        .quiet()
        .say();
    let sent = yard
        .surface
        .send(&yard.place(), &message("k", "I see"))
        .await
        .unwrap();
    let SurfaceOutcome::Said { messages } = yard
        .act(SurfaceAction::Read {
            limit: 10,
            before: None,
        })
        .await
        .unwrap()
    else {
        unreachable!();
    };
    let told: Vec<_> = messages
        .iter()
        .map(|past| {
            (
                past.sender.as_deref().unwrap(),
                past.own,
                past.text.as_str(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Ada", false, "Five larch"),
            ("Ada", false, "@Chitin see\n[file: plan.pdf, 4 bytes]"),
            ("Chitin", true, "I see")
        ]
    );
    assert_eq!(messages[0].message_id, first);
    let before = SurfaceAction::Read {
        limit: 1,
        before: Some(sent.message_id),
    };
    let SurfaceOutcome::Said { messages } = yard.act(before).await.unwrap() else {
        unreachable!();
    };
    assert_eq!(messages.len(), 1);
    assert!(messages[0].text.contains("plan.pdf"));
}

#[tokio::test]
async fn a_file_of_a_message_is_fetched_by_name_or_number() {
    let (yard, _) = yard();
    let saying = yard.discord.saying(&yard.channel, &yard.ada, "Files");
    let id = saying
        .file("a.txt", "text/plain", b"A")
        .file("b.txt", "text/plain", b"B")
        .quiet()
        .say();
    let download = |file: Option<&str>| SurfaceAction::Download {
        message_id: id.clone(),
        file: file.map(str::to_owned),
    };
    for (wanted, name) in [("b.txt", "b.txt"), ("1", "a.txt")] {
        let SurfaceOutcome::File { file } = yard.act(download(Some(wanted))).await.unwrap() else {
            unreachable!();
        };
        assert_eq!((file.name.as_str(), file.bytes.len()), (name, 1));
    }
    for odd in [None, Some("c.txt"), Some("0")] {
        let error = yard.act(download(odd)).await.unwrap_err();
        assert_eq!(
            error.message,
            "Say which file, by name or number: a.txt, b.txt."
        );
    }
}

#[tokio::test]
async fn threads_are_opened_once_and_a_forum_gets_a_post() {
    let (yard, said) = yard();
    let create = |message_id: Option<&str>| SurfaceAction::ThreadCreate {
        name: "Larch".to_owned(),
        message_id: message_id.map(str::to_owned),
        auto_archive_min: Some(99_999),
    };
    for _ in 0..2 {
        let SurfaceOutcome::Thread { address } = yard.act(create(Some(&said))).await.unwrap()
        else {
            unreachable!();
        };
        assert_eq!(
            address.to_string(),
            format!("discord:channel:{said}:thread:{said}")
        );
    }
    let forum = yard.discord.forum(&yard.guild, "plans");
    yard.surface
        .act(&channel(&forum), &create(None))
        .await
        .unwrap();
    let body = yard
        .discord
        .asked_for(&format!("channels/{forum}/threads"))
        .remove(0)
        .body;
    assert_eq!(body["message"]["content"], "Larch");
    assert_eq!(body["auto_archive_duration"], 10_080);
    let error = yard
        .surface
        .act(&channel(&said), &create(None))
        .await
        .unwrap_err();
    assert!(
        error.message.starts_with("This is a thread already"),
        "{error}"
    );
    let listed = yard
        .other("thread-list", json!({"includeArchived": true}))
        .await
        .unwrap();
    assert_eq!(
        listed,
        json!({"threads": [{"threadId": said, "name": "Larch", "archived": false}]})
    );
}

#[tokio::test]
async fn pins_search_and_who_is_there() {
    let (yard, said) = yard();
    yard.other("pin", json!({"messageId": said})).await.unwrap();
    let pins = yard.other("list-pins", json!({})).await.unwrap();
    assert_eq!(pins["messages"][0]["text"], "Five larch");
    yard.other("unpin", json!({"messageId": said}))
        .await
        .unwrap();
    assert_eq!(
        yard.other("list-pins", json!({})).await.unwrap()["messages"],
        json!([])
    );
    let found = yard
        .other("search", json!({"query": "larch"}))
        .await
        .unwrap();
    assert_eq!(found["total"], 1);
    assert_eq!(
        found["hits"][0]["target"],
        format!("channel:{}", yard.channel)
    );
    assert_eq!(found["hits"][0]["message"]["text"], "Five larch");
    let member = yard
        .other("member-info", json!({"userId": yard.ada}))
        .await
        .unwrap();
    assert_eq!(
        (&member["username"], &member["name"]),
        (&json!("ada"), &json!("Ada"))
    );
    let info = yard.other("channel-info", json!({})).await.unwrap();
    assert_eq!(
        (&info["name"], &info["thread"]),
        (&json!("berths"), &json!(false))
    );
    let elsewhere = json!({"query": "larch", "guildId": "123"});
    let error = yard.other("search", elsewhere).await.unwrap_err();
    assert!(
        error
            .message
            .starts_with("This place is in another server.")
    );
    yard.other("reactions", json!({"messageId": said}))
        .await
        .unwrap();
}

#[tokio::test]
async fn only_our_own_messages_are_deleted() {
    let (yard, said) = yard();
    let error = yard
        .other("delete", json!({"messageId": said}))
        .await
        .unwrap_err();
    assert_eq!(
        error.message,
        "Only messages of the bot itself can be deleted."
    );
    let sent = yard
        .surface
        .send(&yard.place(), &message("k", "Oops"))
        .await
        .unwrap();
    yard.other("delete", json!({"messageId": sent.message_id}))
        .await
        .unwrap();
    assert_eq!(yard.discord.message(&sent.message_id), None);
    assert!(yard.discord.message(&said).is_some());
}

/// What is declared works or says what it lacks, and what is switched off is not there.
#[tokio::test]
async fn exactly_what_is_declared_can_be_done() {
    let off: Value = json!({"actions": {"pins": false, "search": false, "reactions": false}});
    let yard = Yard::closed(&[], &off);
    let declared = &yard.surface.capabilities().actions;
    for gone in ["pin", "unpin", "list-pins", "search", "react", "reactions"] {
        assert!(!declared.contains(&gone.to_owned()), "{gone}");
        let error = yard.other(gone, json!({})).await.unwrap_err();
        assert_eq!(error.message, format!("This surface knows no `{gone}`."));
    }
    let by_the_gateway = [
        "send",
        "reply",
        "broadcast",
        "thread-reply",
        "edit",
        "read",
        "thread-create",
    ];
    for action in declared
        .iter()
        .filter(|action| !by_the_gateway.contains(&action.as_str()))
    {
        if let Err(error) = yard.other(action, json!({})).await {
            assert!(
                error.message.starts_with(&format!("`{action}` needs")),
                "{error}"
            );
        }
    }
    assert!(declared.contains(&"thread-list".to_owned()));
}
