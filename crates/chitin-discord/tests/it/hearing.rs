//! What people say reaches the right session, readable, with what hangs on it.

use crate::yard::Yard;
use chitin_test::discord::BOT;
use serde_json::{Value, json};

/// The smallest picture that is one.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n rest of the picture";

fn expects(text: &str, contains: &[&str], lacks: &[&str]) -> Value {
    json!({"text": text, "expect": {"contains": contains, "lacks": lacks}})
}

#[tokio::test]
async fn a_channel_a_direct_message_and_a_thread_are_sessions_of_their_own() {
    let yard = Yard::open(&[
        json!({"text": "Five."}),
        json!({"text": "Between us."}),
        json!({"text": "In here."}),
    ])
    .await;
    yard.say_and_wait("How many berths?", 1).await;
    let direct = yard.discord.direct(&yard.ada);
    yard.discord.say(&direct, &yard.ada, "Psst");
    yard.discord.until_posted(2).await;
    let thread = yard.discord.thread(&yard.channel, "Berth three", &yard.ada);
    yard.discord.say(&thread, &yard.ada, "And here?");
    let texts = yard.discord.until_posted(3).await;
    assert_eq!(
        texts,
        [
            yard.here("Five."),
            format!("{direct}: Between us."),
            format!("{thread}: In here.")
        ]
    );
    yard.stage.rest().await;
    let mut sessions = yard.sessions();
    sessions.sort();
    let mut wanted = vec![
        format!("agent:main:discord:direct:{}", yard.ada),
        format!("agent:main:discord:channel:{}", yard.channel),
        format!("agent:main:discord:channel:{thread}"),
    ];
    wanted.sort();
    assert_eq!(sessions, wanted);
}

#[tokio::test]
async fn a_thread_session_begins_with_what_was_said_there_before_page_by_page() {
    let replies = [
        expects(
            "Larch.",
            &[
                "Ada: Which wood, 1?",
                "Ada: Which wood, 150?",
                "Ada: Berths: larch or oak?",
                "UNTRUSTED_THREAD_HISTORY",
            ],
            &[],
        ),
        json!({"text": "Still larch."}),
    ];
    let extra = json!({"thread": {"initialHistoryLimit": 200}});
    let yard = Yard::with(&replies, extra).await;
    // The thread hangs under a message of the channel.
    let first = yard
        .discord
        .saying(&yard.channel, &yard.ada, "Berths: larch or oak?")
        .quiet()
        .say();
    let thread = yard.discord.thread(&yard.channel, "Wood", &yard.ada);
    let starter = json!({"type": 21, "referenced_message": yard.discord.message(&first)});
    yard.discord
        .saying(&thread, &yard.ada, "")
        .with(starter)
        .quiet()
        .say();
    for number in 1..=150 {
        let text = format!("Which wood, {number}?");
        yard.discord.saying(&thread, &yard.ada, &text).quiet().say();
    }
    yard.discord.say(&thread, &yard.ada, "Well?");
    yard.discord.until_posted(1).await;
    yard.stage.rest().await;
    let reads = || {
        yard.discord
            .asked_for(&format!("channels/{thread}/messages?limit="))
    };
    assert_eq!(
        reads().len(),
        2,
        "a hundred at a time, until there is no more"
    );
    yard.discord.say(&thread, &yard.ada, "Sure?");
    let texts = yard.discord.until_posted(2).await;
    assert_eq!(
        texts,
        [
            format!("{thread}: Larch."),
            format!("{thread}: Still larch.")
        ]
    );
    assert_eq!(reads().len(), 2, "the past is asked for once");
}

#[tokio::test]
async fn a_forum_post_is_a_thread() {
    let yard = Yard::open(&[json!({"text": "Posted."})]).await;
    let forum = yard.discord.forum(&yard.guild, "plans");
    let post = yard.discord.thread(&forum, "New crane", &yard.ada);
    yard.discord.say(&post, &yard.ada, "What of it?");
    assert_eq!(
        yard.discord.until_posted(1).await,
        [format!("{post}: Posted.")]
    );
    yard.stage.rest().await;
    assert_eq!(
        yard.sessions(),
        [format!("agent:main:discord:channel:{post}")]
    );
}

#[tokio::test]
async fn a_thread_that_nobody_told_us_of_is_asked_about() {
    let yard = Yard::open(&[json!({"text": "Found."})]).await;
    let thread = yard.discord.thread(&yard.channel, "Old", &yard.ada);
    yard.discord
        .send_event("THREAD_DELETE", &json!({"id": thread, "type": 11}));
    yard.discord.say(&thread, &yard.ada, "Anybody?");
    yard.discord.until_posted(1).await;
    assert!(
        !yard
            .discord
            .asked_for(&format!("channels/{thread}"))
            .is_empty()
    );
    yard.stage.rest().await;
    assert_eq!(
        yard.sessions(),
        [format!("agent:main:discord:channel:{thread}")]
    );
}

#[tokio::test]
async fn mentions_are_readable_and_our_own_is_taken_off() {
    let yard = Yard::closed(
        &[expects(
            "Yes.",
            &["ask @Ben in #berths with @Wharf, <@404>", "now"],
            &[BOT, "<@!"],
        )],
        &json!({}),
    );
    let ben = yard.discord.person("Ben");
    let text = format!(
        "<@{BOT}> ask <@!{ben}> in <#{}> with <@&910000000000000002>, <@404> <@{BOT}> now",
        yard.channel
    );
    let yard = yard.connect().await;
    assert_eq!(yard.say_and_wait(&text, 1).await, [yard.here("Yes.")]);
}

#[tokio::test]
async fn pictures_and_short_texts_come_with_a_message_and_others_are_left_where_they_are() {
    let yard = Yard::open(&[json!({"text": "Seen."})]).await;
    let saying = yard.discord.saying(&yard.channel, &yard.ada, "Look");
    saying
        .file("crane.png", "image/png", PNG)
        .file("fake.png", "image/png", b"<html>no picture</html>")
        .file("list.md", "text/markdown; charset=utf-8", b"- larch\n")
        .file_of_size("huge.png", "image/png", PNG, 9 << 20)
        .file("tool.bin", "application/x-thing", b"\0\x01")
        .say();
    yard.discord.until_posted(1).await;
    yard.stage.rest().await;
    let fetched: Vec<String> = yard
        .discord
        .asked_for("/attachments/")
        .into_iter()
        .map(|asked| asked.path.rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(fetched, ["crane.png", "fake.png", "list.md"]);
}

/// What is larger than it claims is not read to its end.
#[tokio::test]
async fn a_file_that_lies_about_its_size_is_not_taken() {
    let yard = Yard::with(&[json!({"text": "Seen."})], json!({"mediaMaxMb": 1})).await;
    let mut large = PNG.to_vec();
    large.resize(2 << 20, 0);
    let saying = yard.discord.saying(&yard.channel, &yard.ada, "Look");
    saying
        .file_of_size("crane.png", "image/png", &large, 10)
        .say();
    yard.discord.until_posted(1).await;
    assert!(
        yard.notes().contains("cannot be fetched"),
        "{}",
        yard.notes()
    );
}

#[tokio::test]
async fn files_elsewhere_are_never_fetched() {
    let yard = Yard::open(&[json!({"text": "No."})]).await;
    let url = format!(
        "http://localhost:{}/secret.png",
        yard.discord.api_url().rsplit(':').next().unwrap()
    );
    let attachments = json!([
        {"id": "1", "filename": "secret.png", "size": 10, "url": url},
        {"id": "2", "filename": "a.png", "size": 10, "url": "file:///etc/passwd"},
        {"id": "3", "filename": "b.png", "size": 10, "url": "not a url"},
    ]);
    yard.discord
        .saying(&yard.channel, &yard.ada, "Look")
        .with(json!({"attachments": attachments}))
        .say();
    yard.discord.until_posted(1).await;
    assert!(yard.discord.asked_for("secret.png").is_empty());
}

#[tokio::test]
async fn what_programs_and_we_ourselves_say_begins_no_turn() {
    let yard = Yard::open(&[json!({"text": "Hello."})]).await;
    let bot = json!({"author": {"id": "77", "username": "feed", "bot": true}});
    yard.discord
        .saying(&yard.channel, &yard.ada, "Beep")
        .with(bot)
        .say();
    let webhook = json!({"webhook_id": "78"});
    yard.discord
        .saying(&yard.channel, &yard.ada, "Hook")
        .with(webhook)
        .say();
    let joined = json!({"type": 7});
    yard.discord
        .saying(&yard.channel, &yard.ada, "joined")
        .with(joined)
        .say();
    yard.discord.saying(&yard.channel, BOT, "Myself").say();
    assert_eq!(yard.say_and_wait("Hi", 1).await, [yard.here("Hello.")]);
    assert_eq!(yard.discord.texts().len(), 1);
}

#[tokio::test]
async fn a_message_that_comes_twice_is_one() {
    let yard = Yard::open(&[json!({"text": "Once."}), json!({"text": "Next."})]).await;
    yard.say_and_wait("Hi", 1).await;
    yard.discord.repeat_last_message();
    assert_eq!(
        yard.say_and_wait("And?", 2).await,
        [yard.here("Once."), yard.here("Next.")]
    );
}

#[tokio::test]
async fn a_message_that_was_passed_on_is_read() {
    let yard = Yard::open(&[expects("Read.", &["[passed on] Crane is broken"], &[])]).await;
    let passed = json!({"message_snapshots": [{"message": {"content": "Crane is broken"}}]});
    yard.discord
        .saying(&yard.channel, &yard.ada, "")
        .with(passed)
        .say();
    assert_eq!(yard.discord.until_posted(1).await, [yard.here("Read.")]);
}

#[tokio::test]
async fn without_the_words_of_messages_it_is_said_why_and_a_mention_still_works() {
    let replies = [json!({"text": "I can read this."})];
    let yard = Yard::with(&replies, json!({"intents": {"messageContent": false}})).await;
    yard.discord.say(&yard.channel, &yard.ada, "Anybody?");
    yard.discord.say(&yard.channel, &yard.ada, "Hello?");
    yard.say_and_wait(&format!("<@{BOT}> you?"), 1).await;
    assert_eq!(yard.discord.texts(), [yard.here("I can read this.")]);
    assert_eq!(
        yard.notes().matches("Message Content Intent").count(),
        1,
        "{}",
        yard.notes()
    );
}
