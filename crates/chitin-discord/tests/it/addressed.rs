//! Whom a message is meant for, and what comes with it when it is for us.

use crate::yard::Yard;
use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome};
use chitin_test::discord::BOT;
use serde_json::{Value, json};

/// A yard where the agent hears only what is meant for it.
async fn yard(replies: &[Value]) -> Yard {
    Yard::with(replies, json!({"guilds": {"*": {"requireMention": true}}})).await
}

#[tokio::test]
async fn our_name_our_role_and_a_reply_to_us_are_meant_for_us_and_nothing_else_is() {
    let yard = yard(&[
        json!({"text": "One.", "expect": {"contains": ["Among us", "you there?"]}}),
        json!({"text": "Two."}),
        json!({"text": "Three.", "expect": {"contains": ["To you"]}}),
    ])
    .await;
    yard.discord.say(&yard.channel, &yard.ada, "Among us");
    yard.discord.say(
        &yard.channel,
        &yard.ada,
        "<@&910000000000000002> everybody @everyone",
    );
    yard.say_and_wait(&format!("<@{BOT}> you there?"), 1).await;
    yard.say_and_wait("<@&910000000000000001> and you?", 2)
        .await;
    let ours = yard.discord.posted().remove(0).id;
    let hers = yard
        .discord
        .saying(&yard.channel, &yard.ada, "To nobody")
        .say();
    yard.discord
        .saying(&yard.channel, &yard.ada, "To her")
        .reply_to(&hers)
        .say();
    yard.discord
        .saying(&yard.channel, &yard.ada, "To you")
        .reply_to(&ours)
        .say();
    let texts = yard.discord.until_posted(3).await;
    yard.stage.rest().await;
    assert_eq!(
        texts,
        ["One.", "Two.", "Three."].map(|text| yard.here(text))
    );
}

#[tokio::test]
async fn in_a_thread_that_we_began_everything_is_meant_for_us() {
    let yard = yard(&[json!({"text": "Here."})]).await;
    let hers = yard.discord.thread(&yard.channel, "Hers", &yard.ada);
    yard.discord.say(&hers, &yard.ada, "Not for you");
    let create = SurfaceAction::ThreadCreate {
        name: "Ours".to_owned(),
        message_id: None,
        auto_archive_min: None,
    };
    let SurfaceOutcome::Thread { address } = yard.act(create).await.unwrap() else {
        unreachable!();
    };
    let ours = address.thread_id.unwrap();
    yard.discord.say(&ours, &yard.ada, "For you");
    assert_eq!(
        yard.discord.until_posted(1).await,
        [format!("{ours}: Here.")]
    );
    yard.stage.rest().await;
    assert_eq!(
        yard.sessions(),
        [format!("agent:main:discord:channel:{ours}")]
    );
}

/// A name alone is a knock at the door.
#[tokio::test]
async fn our_name_alone_and_a_file_alone_are_messages() {
    let yard = yard(&[
        json!({"text": "Yes?"}),
        json!({"text": "Larch.", "expect": {"contains": ["list.md", "five larch boards"]}}),
    ])
    .await;
    yard.say_and_wait(&format!("<@{BOT}>"), 1).await;
    let direct = yard.discord.direct(&yard.ada);
    let saying = yard.discord.saying(&direct, &yard.ada, "");
    saying
        .file("list.md", "text/markdown", b"five larch boards")
        .say();
    let texts = yard.discord.until_posted(2).await;
    assert_eq!(texts, [yard.here("Yes?"), format!("{direct}: Larch.")]);
}

/// A room is known by its name, and a thread by that of its channel: who names a thread after a room is not let in by that.
#[tokio::test]
async fn a_thread_has_the_name_of_its_channel_for_lists() {
    let extra = json!({"groupPolicy": "allowlist", "dangerouslyAllowNameMatching": true, "guilds": {"*": {
        "requireMention": false, "channels": {"berths": {"allow": true}},
    }}});
    let yard = Yard::with(&[json!({"text": "One."}), json!({"text": "Two."})], extra).await;
    let office = yard.discord.channel(&yard.guild, "office");
    let sly = yard.discord.thread(&office, "berths", &yard.ada);
    yard.discord.say(&office, &yard.ada, "Not here");
    yard.discord.say(&sly, &yard.ada, "Nor here");
    let thread = yard.discord.thread(&yard.channel, "crane", &yard.ada);
    yard.discord.say(&thread, &yard.ada, "Here");
    yard.discord.until_posted(1).await;
    yard.say_and_wait("And here", 2).await;
    let places: Vec<String> = yard
        .discord
        .posted()
        .into_iter()
        .map(|posted| posted.channel)
        .collect();
    assert_eq!(places, [thread, yard.channel.clone()]);
}

#[tokio::test]
async fn somebody_unknown_gets_a_code_and_nothing_of_theirs_is_fetched() {
    let yard = Yard::with(&[], json!({"dmPolicy": "pairing", "allowFrom": []})).await;
    let direct = yard.discord.direct(&yard.ada);
    let saying = yard.discord.saying(&direct, &yard.ada, "Let me in");
    saying.file("list.md", "text/markdown", b"x").say();
    let texts = yard.discord.until_posted(1).await;
    assert!(
        texts[0].starts_with(&direct) && texts[0].contains("chitin pairing approve"),
        "{texts:?}"
    );
    assert!(yard.discord.asked_for("/attachments/").is_empty());
}
