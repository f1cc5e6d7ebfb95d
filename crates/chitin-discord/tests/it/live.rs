//! Answers that are seen while they are written.

use crate::stage::{Pace, Setting};
use crate::yard::Yard;
use chitin_test::discord::{FakeDiscord, Fault};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

const LONG: &str = "The yard has five larch boards, two of them long enough for the keel, and an oak that nobody has \
    looked at since the spring; the rest is firewood.";

/// A yard whose model says a few words for each permit.
async fn yard() -> (Yard, Arc<Semaphore>) {
    let words = Arc::new(Semaphore::new(0));
    let yard = Yard::closed(
        &[],
        &json!({"streaming": "partial", "actions": {"messages": false}}),
    );
    let replies = [json!({"text": LONG}), json!({"text": "Nothing else."})];
    let setting = Setting::replies(&replies).pace(Pace::Permits(Arc::clone(&words)));
    (yard.set(setting).connect().await, words)
}

fn whole(discord: &FakeDiscord) -> Option<()> {
    (discord.posted().first()?.text == LONG).then_some(())
}

/// The connection breaks while the answer is being written. What a model may do with messages does not matter for that.
#[tokio::test]
async fn an_answer_grows_in_one_message_also_when_the_connection_breaks_in_the_middle() {
    let (yard, words) = yard().await;
    yard.discord.say(&yard.channel, &yard.ada, "Board?");
    words.add_permits(3);
    let first = yard.discord.until_posted(1).await.remove(0);
    assert!(
        yard.here(LONG).starts_with(&first) && first != yard.here(LONG),
        "{first}"
    );
    yard.discord.break_connections();
    yard.discord.say(&yard.channel, &yard.ada, "And?");
    yard.discord
        .until("a resume", |discord| {
            (discord.greetings().1 == 1).then_some(())
        })
        .await;
    words.add_permits(10_000);
    yard.discord.until("the whole answer", whole).await;
    yard.discord.until_posted(2).await;
    yard.stage.rest().await;
    assert_eq!(
        yard.discord.texts(),
        [yard.here(LONG), yard.here("Nothing else.")]
    );
    let before = yard.discord.posted().remove(0).before;
    assert!(
        !before.is_empty() && before.iter().all(|text| LONG.starts_with(text)),
        "{before:?}"
    );
}

#[tokio::test]
async fn an_answer_is_whole_in_the_end_though_discord_wants_fewer_changes() {
    let (yard, words) = yard().await;
    yard.discord.fail(
        "PATCH",
        "/messages/",
        2,
        Fault::TooMany {
            retry_after: 0.3,
            global: false,
        },
    );
    yard.discord
        .fail("PATCH", "/messages/", 1, Fault::Words(502));
    yard.discord.say(&yard.channel, &yard.ada, "Board?");
    words.add_permits(3);
    yard.discord.until_posted(1).await;
    words.add_permits(10_000);
    yard.discord.until("the whole answer", whole).await;
    yard.stage.rest().await;
    assert_eq!(yard.discord.texts(), [yard.here(LONG)]);
}
