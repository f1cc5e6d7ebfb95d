//! What the bot posts: where, as what, whom it wakes, and that it is said once.

use crate::yard::{Yard, channel, message, person};
use chitin_gateway::surface::{Again, OutgoingFile, SurfaceAction};
use chitin_gateway::{OutgoingMessage, Surface};
use chitin_protocol::message::ImageBlock;
use chitin_test::discord::Fault;
use proptest::prelude::*;
use serde_json::json;

#[tokio::test]
async fn a_reply_points_at_its_message_and_a_silent_one_wakes_nobody() {
    let yard = Yard::closed(&[], &json!({}));
    let said = yard
        .discord
        .saying(&yard.channel, &yard.ada, "Hi")
        .quiet()
        .say();
    let outgoing = OutgoingMessage {
        reply_to: Some(said.clone()),
        silent: true,
        ..message("k1", "Hello")
    };
    yard.surface.send(&yard.place(), &outgoing).await.unwrap();
    let body = yard.discord.posted().remove(0).body;
    assert_eq!(
        body["message_reference"],
        json!({"message_id": said, "fail_if_not_exists": false})
    );
    assert_eq!(body["flags"], 4096);
    assert_eq!(body["enforce_nonce"], true);
}

#[tokio::test]
async fn a_person_is_written_to_in_their_own_conversation_which_is_opened_once() {
    let yard = Yard::closed(&[], &json!({}));
    for key in ["a", "b"] {
        yard.surface
            .send(&person(&yard.ada), &message(key, key))
            .await
            .unwrap();
    }
    let direct = yard.discord.direct(&yard.ada);
    assert_eq!(
        yard.discord.texts(),
        [format!("{direct}: a"), format!("{direct}: b")]
    );
    assert_eq!(yard.discord.asked_for("users/@me/channels").len(), 1);
}

/// The answer to the first try is lost; the second try is the same message.
#[tokio::test]
async fn a_message_that_is_tried_again_is_there_once() {
    let yard = Yard::open(&[json!({"text": "Once."})]).await;
    yard.discord.fail("POST", "/messages", 1, Fault::LoseAnswer);
    yard.discord.say(&yard.channel, &yard.ada, "Hi");
    let tries = |discord: &chitin_test::discord::FakeDiscord| {
        let tries = discord.asked_for("/messages").into_iter();
        (tries.filter(|asked| asked.method == "POST").count() == 2).then_some(())
    };
    yard.discord.until("a second try", tries).await;
    yard.stage.rest().await;
    assert_eq!(yard.discord.texts(), [yard.here("Once.")]);
}

#[tokio::test]
async fn a_text_wakes_those_who_are_in_the_conversation_and_nobody_else() {
    let yard = Yard::open(&[json!({"text": "x"})]).await;
    yard.say_and_wait("Hi", 1).await;
    let ben = yard.discord.person("Ben");
    let text = format!(
        "@everyone @here <@&910000000000000002> <@{ben}> <@{}> <@!{}>",
        yard.ada, yard.ada
    );
    yard.surface
        .send(&yard.place(), &message("k", &text))
        .await
        .unwrap();
    let mentions = yard.discord.posted().remove(1).body["allowed_mentions"].clone();
    assert_eq!(
        mentions,
        json!({"parse": [], "users": [yard.ada], "replied_user": false})
    );
}

#[tokio::test]
async fn an_edit_wakes_no_more_than_the_message_did() {
    let yard = Yard::closed(&[], &json!({}));
    let sent = yard
        .surface
        .send(&yard.place(), &message("k", "One"))
        .await
        .unwrap();
    let edit = SurfaceAction::Edit {
        message_id: sent.message_id.clone(),
        text: "@everyone Two".to_owned(),
    };
    yard.act(edit).await.unwrap();
    let posted = yard.discord.posted().remove(0);
    assert_eq!(
        (posted.text.as_str(), posted.before),
        ("@everyone Two", vec!["One".to_owned()])
    );
    let asked = yard.discord.asked_for(&sent.message_id).remove(0);
    assert_eq!(asked.body["allowed_mentions"]["parse"], json!([]));
}

#[tokio::test]
async fn pictures_and_files_go_with_a_message() {
    let yard = Yard::closed(&[], &json!({}));
    let file = OutgoingFile {
        name: "a \"quoted\"\r\nname.txt".to_owned(),
        mime: "text/plain".to_owned(),
        bytes: b"--larch\r\n--".to_vec().into(),
    };
    let outgoing = OutgoingMessage {
        images: vec![ImageBlock {
            data: "iVBORw0KGgo=".to_owned(),
            mime_type: "image/jpeg".to_owned(),
            ..ImageBlock::default()
        }],
        files: vec![file],
        ..message("k", "Here")
    };
    yard.surface.send(&yard.place(), &outgoing).await.unwrap();
    let posted = yard.discord.posted().remove(0);
    assert_eq!(posted.text, "Here");
    let files: Vec<_> = posted
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.mime.as_str()))
        .collect();
    assert_eq!(
        files,
        [
            ("image-1.png", "image/png"),
            ("a _quoted___name.txt", "text/plain")
        ]
    );
    assert_eq!(posted.files[1].bytes, b"--larch\r\n--");
    assert_eq!(posted.body["attachments"][1]["id"], 1);
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_sent() {
    let yard = Yard::closed(&[], &json!({"mediaMaxMb": 3}));
    let file = |bytes: usize| OutgoingFile {
        name: "crane.bin".to_owned(),
        mime: "x/y".to_owned(),
        bytes: vec![0; bytes].into(),
    };
    let cases = [
        (
            vec![file((3 << 20) + 1)],
            "`crane.bin` is too large: 3145729 bytes, and 3145728 may be sent (`channels.discord.mediaMaxMb`).",
        ),
        (
            vec![file(1); 11],
            "Discord takes 10 files with a message, and these are 11.",
        ),
        (
            vec![file(3 << 20); 9],
            "The files are too large together: 28311552 bytes, and 26214400 may be sent.",
        ),
    ];
    for (files, said) in cases {
        let outgoing = OutgoingMessage {
            files,
            ..message("k", "")
        };
        let error = yard
            .surface
            .send(&yard.place(), &outgoing)
            .await
            .unwrap_err();
        assert_eq!((error.message.as_str(), error.again), (said, Again::Never));
    }
    assert!(yard.discord.asked().is_empty());
}

#[tokio::test]
async fn a_place_that_cannot_be_is_refused_with_a_reason() {
    let yard = Yard::closed(&[], &json!({}));
    for (place, said) in [
        (
            channel("berths"),
            "`berths` is no id of a channel on Discord. Ids there are long numbers.",
        ),
        (
            channel("../users/@me"),
            "`../users/@me` is no id of a channel on Discord. Ids there are long numbers.",
        ),
        (channel("123"), "There is no such channel on Discord."),
        (person("123"), "There is no such thing on Discord."),
    ] {
        let error = yard
            .surface
            .send(&place, &message("k", "Hi"))
            .await
            .unwrap_err();
        assert_eq!((error.message.as_str(), error.again), (said, Again::Never));
    }
    let mut elsewhere = yard.place();
    elsewhere.account_id = Some("work".to_owned());
    let error = yard
        .surface
        .send(&elsewhere, &message("k", "Hi"))
        .await
        .unwrap_err();
    assert_eq!(error.message, "There is no account `work` on Discord.");
}

#[tokio::test]
async fn a_long_answer_is_cut_as_discord_wants_it_and_html_is_just_text() {
    let long = format!(
        "<script>alert(1)</script> **bold**\n{}",
        "line\n".repeat(40)
    );
    let yard = Yard::open(&[json!({"text": long})]).await;
    let texts = yard.say_and_wait("Go", 3).await;
    assert!(texts[0].starts_with(&yard.here("<script>alert(1)</script> **bold**")));
    assert!(
        yard.discord
            .posted()
            .iter()
            .all(|posted| posted.text.lines().count() <= 17)
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever a model writes, everyone and roles are never woken, and only Ada is here.
    #[test]
    fn no_text_wakes_a_crowd(text in "(@everyone|@here|<@&[0-9]{1,20}>|<@!?[0-9]{0,22}>?|[a-z<@>!& ]){0,12}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let discord = chitin_test::discord::FakeDiscord::start();
            let guild = discord.guild("Yard");
            let at = discord.channel(&guild, "berths");
            let (surface, _) = crate::yard::surface(&discord, &json!({}));
            let text = format!("x{text}");
            surface.send(&channel(&at), &message("k", &text)).await.unwrap();
            let mentions = discord.posted().remove(0).body["allowed_mentions"].clone();
            assert_eq!(mentions, json!({"parse": [], "users": [], "replied_user": false}));
        });
    }
}
