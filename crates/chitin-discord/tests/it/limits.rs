//! Discord's limits are kept, and what it says of them is heard.

use crate::yard::{Yard, message};
use chitin_gateway::Surface;
use chitin_gateway::surface::Again;
use chitin_test::discord::{FakeDiscord, Fault};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_limit_that_is_told_is_kept_without_being_refused() {
    let yard = Yard::closed(&[], &json!({}));
    yard.discord
        .limit("POST channels", 2, Duration::from_millis(400));
    let begun = Instant::now();
    for number in 0..5 {
        let text = format!("{number}");
        yard.surface
            .send(&yard.place(), &message(&text, &text))
            .await
            .unwrap();
    }
    assert!(
        begun.elapsed() >= Duration::from_millis(750),
        "two windows were waited for"
    );
    assert!(yard.discord.asked().iter().all(|asked| asked.status == 200));
    assert_eq!(yard.discord.texts().len(), 5);
}

#[tokio::test]
async fn too_many_on_one_route_wait_and_do_not_hold_up_others() {
    let yard = Yard::closed(&[], &json!({}));
    let office = yard.discord.channel(&yard.guild, "office");
    let slow = Fault::TooMany {
        retry_after: 0.6,
        global: false,
    };
    yard.discord.fail(
        "POST",
        &format!("channels/{}/messages", yard.channel),
        1,
        slow,
    );
    let begun = Instant::now();
    let (waiting, going) = (message("a", "Waits"), message("b", "Goes"));
    let (here, there) = (yard.place(), crate::yard::channel(&office));
    let waits = async {
        yard.surface.send(&here, &waiting).await.unwrap();
        begun.elapsed()
    };
    let goes = async {
        // After the first is refused.
        yard.discord.until("a refusal", refusal).await;
        yard.surface.send(&there, &going).await.unwrap();
    };
    let (waited, ()) = tokio::join!(waits, goes);
    assert!(waited >= Duration::from_millis(600), "{waited:?}");
    assert_eq!(
        yard.discord.texts(),
        [format!("{office}: Goes"), yard.here("Waits")]
    );
}

#[tokio::test]
async fn too_many_everywhere_holds_up_everything_and_nothing_is_hammered() {
    let yard = Yard::closed(&[], &json!({}));
    let office = yard.discord.channel(&yard.guild, "office");
    let all = Fault::TooMany {
        retry_after: 2.0,
        global: true,
    };
    yard.discord.fail("POST", &yard.channel, 1, all);
    let (first, second) = (message("a", "One"), message("b", "Two"));
    let (here, there) = (yard.place(), crate::yard::channel(&office));
    let mut waiting = yard.surface.send(&here, &first);
    tokio::select! {
        sent = &mut waiting => unreachable!("{sent:?}"),
        () = yard.discord.until("a refusal", refusal) => {}
    }
    // It hears of the refusal, and waits.
    let heard = tokio::time::timeout(Duration::from_millis(500), &mut waiting).await;
    assert!(heard.is_err(), "{heard:?}");
    let begun = Instant::now();
    yard.surface.send(&there, &second).await.unwrap();
    let waited = begun.elapsed();
    waiting.await.unwrap();
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
    let statuses: Vec<u16> = yard
        .discord
        .asked()
        .iter()
        .map(|asked| asked.status)
        .collect();
    assert_eq!(
        statuses,
        [429, 200, 200],
        "one refusal, one wait, two messages"
    );
}

/// Something was refused.
fn refusal(discord: &FakeDiscord) -> Option<()> {
    discord
        .asked()
        .iter()
        .any(|asked| asked.status == 429)
        .then_some(())
}

#[tokio::test]
async fn a_long_wait_is_left_to_whoever_asked() {
    let yard = Yard::closed(&[], &json!({}));
    yard.discord.fail(
        "POST",
        "/messages",
        1,
        Fault::TooMany {
            retry_after: 40.0,
            global: false,
        },
    );
    let error = yard
        .surface
        .send(&yard.place(), &message("a", "One"))
        .await
        .unwrap_err();
    let Again::After(milliseconds) = error.again else {
        unreachable!("{error:?}");
    };
    assert!((39_000..=40_001).contains(&milliseconds), "{milliseconds}");
    assert_eq!(yard.discord.asked().len(), 1);
}

#[tokio::test]
async fn what_may_work_later_is_told_apart_from_what_never_will() {
    let yard = Yard::closed(&[], &json!({}));
    let cases = [
        (
            Fault::Status(503, 0),
            "Discord has trouble (503).",
            Again::Soon,
        ),
        (Fault::Words(502), "Discord has trouble (502).", Again::Soon),
        (
            Fault::LoseAnswer,
            "Discord cannot be reached: the connection broke.",
            Again::Soon,
        ),
        (
            Fault::Status(403, 50_013),
            "The bot may not do this here. Somebody who manages the server can allow it.",
            Again::Never,
        ),
        (
            Fault::Status(403, 50_001),
            "The bot cannot see this place on Discord.",
            Again::Never,
        ),
        (
            Fault::Status(404, 10_003),
            "There is no such channel on Discord.",
            Again::Never,
        ),
        (
            Fault::Status(400, 1),
            "Discord does not take this (400): It is refused.",
            Again::Never,
        ),
        (
            Fault::Status(401, 0),
            "Discord does not take the token of the bot.",
            Again::Never,
        ),
    ];
    for (fault, said, again) in cases {
        yard.discord.fail("POST", "/messages", 1, fault);
        let error = yard
            .surface
            .send(&yard.place(), &message("a", "One"))
            .await
            .unwrap_err();
        assert_eq!((error.message.as_str(), error.again), (said, again));
    }
}

#[tokio::test]
async fn what_changes_nothing_is_asked_again_when_the_network_fails() {
    let yard = Yard::closed(&[], &json!({}));
    yard.discord.fail("GET", "/messages", 2, Fault::Words(502));
    let read = chitin_gateway::surface::SurfaceAction::Read {
        limit: 5,
        before: None,
    };
    yard.act(read).await.unwrap();
    assert_eq!(yard.discord.asked_for("/messages").len(), 3);
}
