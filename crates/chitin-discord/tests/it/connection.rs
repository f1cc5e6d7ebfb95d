//! The connection: kept, resumed, given up when nothing helps. No message is lost or heard twice.

use crate::stage::Setting;
use crate::yard::Yard;
use chitin_discord::{Discord, DiscordNotes, DiscordSettings, PositionStore};
use chitin_gateway::surface::{Connection, Network};
use chitin_test::discord::{FakeDiscord, TOKEN};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// So many answers, called after their number.
fn numbered(count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| json!({"text": format!("Answer {number}.")}))
        .collect()
}

#[tokio::test]
async fn it_identifies_beats_and_says_who_it_is() {
    let mut yard = Yard::closed(&[], &json!({}));
    assert_eq!(yard.surface.accounts()[0].connection, Connection::Idle);
    yard.discord.heartbeat_every(50);
    yard.begin();
    yard.until_connected().await;
    yard.discord
        .until("three heartbeats", |discord| {
            (discord.greetings().2 >= 3).then_some(())
        })
        .await;
    let identified = yard.discord.identified().unwrap();
    let wanted = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
    assert_eq!(identified["intents"], json!(wanted));
    assert_eq!(yard.surface.accounts()[0].name.as_deref(), Some("chitin"));
    yard.end().await;
    let gone = |discord: &FakeDiscord| (!discord.is_connected()).then_some(());
    yard.discord.until("a goodbye", gone).await;
}

/// The connection breaks between events, again and again; some is said while nobody listens.
#[tokio::test]
async fn after_a_break_it_resumes_and_no_message_is_lost_or_answered_twice() {
    let yard = Yard::open(&numbered(12)).await;
    let mut said = 0;
    let mut say = |yard: &Yard| {
        yard.discord
            .say(&yard.channel, &yard.ada, &format!("Question {said}"));
        said += 1;
        said
    };
    for round in 1..=3 {
        let count = say(&yard);
        yard.discord.until_posted(count).await;
        yard.stage.rest().await;
        match round {
            1 => yard.discord.break_connections(),
            2 => yard.discord.ask_to_reconnect(),
            _ => yard.discord.close_connections(4000),
        }
        yard.discord
            .until("a break", |discord| {
                (!discord.is_connected() || discord.greetings().1 >= round).then_some(())
            })
            .await;
        let count = say(&yard);
        yard.discord.repeat_last_message();
        yard.discord.until_posted(count).await;
        yard.stage.rest().await;
        yard.until_connected().await;
    }
    let count = say(&yard);
    yard.discord.until_posted(count).await;
    yard.stage.rest().await;
    let wanted: Vec<String> = (0..7)
        .map(|number| yard.here(&format!("Answer {number}.")))
        .collect();
    assert_eq!(yard.discord.texts(), wanted);
    let (identified, resumed, _) = yard.discord.greetings();
    assert_eq!((identified, resumed), (1, 3), "each break was resumed");
}

/// The connection breaks while an answer is on its way.
#[tokio::test]
async fn a_break_in_the_middle_of_an_answer_does_not_touch_it() {
    let replies = [
        json!({"text": "Looking.", "toolCalls": [{"name": "none", "arguments": {}}]}),
        json!({"text": "Five larch.", "delayMs": 300}),
        json!({"text": "And an oak."}),
    ];
    let yard = Yard::open(&replies).await;
    yard.discord.say(&yard.channel, &yard.ada, "Board?");
    yard.discord.until_posted(1).await;
    yard.discord.break_connections();
    yard.discord
        .until("a resume", |discord| {
            (discord.greetings().1 == 1).then_some(())
        })
        .await;
    yard.discord.until_posted(2).await;
    let texts = yard.say_and_wait("More?", 3).await;
    assert_eq!(
        texts,
        ["Looking.", "Five larch.", "And an oak."].map(|text| yard.here(text))
    );
}

/// A session that is forgotten begins anew. Discord wants five seconds between two identifications.
#[tokio::test]
async fn a_session_that_is_gone_is_begun_again() {
    let yard = Yard::open(&numbered(2)).await;
    yard.say_and_wait("One", 1).await;
    yard.discord.invalidate_sessions();
    yard.discord
        .until("a second identification", |discord| {
            (discord.greetings().0 == 2).then_some(())
        })
        .await;
    yard.until_connected().await;
    yard.say_and_wait("Two", 2).await;
}

#[tokio::test]
async fn a_token_that_is_taken_back_ends_it_with_a_reason() {
    let mut yard = Yard::open(&[]).await;
    yard.discord.revoke_token();
    yard.until_over().await;
    let Connection::Failed { reason, hint } = yard.surface.accounts().remove(0).connection else {
        unreachable!("{:?}", yard.surface.accounts());
    };
    assert_eq!(reason, "Discord does not take the token of the bot.");
    assert!(
        hint.unwrap()
            .contains("https://discord.com/developers/applications")
    );
    assert!(yard.notes().contains(&reason));
}

#[tokio::test]
async fn a_token_that_never_was_one_is_found_out_before_it_counts_as_a_failed_connection() {
    let mut yard = Yard::closed(&[], &json!({}));
    yard.discord.revoke_token();
    yard.begin();
    yard.until_over().await;
    assert!(matches!(
        yard.surface.accounts()[0].connection,
        Connection::Failed { .. }
    ));
    assert_eq!(yard.discord.greetings().0, 0);
    assert_eq!(yard.discord.asked().len(), 1);
}

/// Two accounts, one of them with a token that is none.
#[tokio::test]
async fn an_account_that_fails_does_not_take_the_others_with_it() {
    let discord = FakeDiscord::start();
    let settings = DiscordSettings::read(&discord.section()).unwrap();
    let tokens = [("default", TOKEN), ("Night", "wrong")];
    let tokens = tokens.map(|(id, token)| (id.to_owned(), SecretString::from(token)));
    let surface = Discord::new(
        &settings,
        BTreeMap::from(tokens),
        PositionStore::none(),
        &(Arc::new(|_: &str| {}) as DiscordNotes),
    )
    .unwrap();
    let stage = Setting::default().stage();
    let cancel = CancellationToken::new();
    let running = Arc::clone(&surface).run(stage.gateway.clone(), cancel.clone());
    let running = tokio::spawn(running);
    discord.until_connected().await;
    let standing = || {
        let accounts = surface.accounts().into_iter();
        let standing = accounts.map(|account| (account.account_id, account.connection));
        standing.collect::<BTreeMap<_, _>>()
    };
    for _ in 0..2_000 {
        let standing = standing();
        if standing["default"] == Connection::Connected
            && matches!(standing["night"], Connection::Failed { .. })
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(standing()["default"], Connection::Connected);
    assert!(matches!(standing()["night"], Connection::Failed { .. }));
    cancel.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn intents_that_are_not_allowed_end_it_with_a_reason_and_what_to_do() {
    let mut yard = Yard::closed(&[], &json!({}));
    yard.discord.forbid_intents(1 << 15);
    yard.begin();
    yard.until_over().await;
    let Connection::Failed { reason, hint } = yard.surface.accounts().remove(0).connection else {
        unreachable!("{:?}", yard.surface.accounts());
    };
    assert_eq!(
        reason,
        "Discord does not allow the intents that this bot asks for."
    );
    assert!(hint.unwrap().contains("`Message Content Intent`"));
}

#[tokio::test]
async fn while_discord_is_away_it_is_tried_again_and_said_once() {
    let mut yard = Yard::closed(&[], &json!({}));
    yard.discord.fail(
        "GET",
        "gateway/bot",
        3,
        chitin_test::discord::Fault::Words(502),
    );
    yard.begin();
    let connecting =
        |connection: &Connection| matches!(connection, Connection::Connecting { reason: Some(_) });
    yard.until_standing("waiting", connecting).await;
    assert!(
        yard.notes()
            .contains("Discord has trouble (502). It is tried again."),
        "{}",
        yard.notes()
    );
    yard.until_connected().await;
}

#[tokio::test]
async fn a_probe_says_who_we_are_what_works_and_what_does_not() {
    let discord = FakeDiscord::start();
    let (surface, _) = crate::yard::surface(&discord, &json!({}));
    let probed = surface.probe().await.remove(0);
    assert_eq!(probed.name.as_deref(), Some("chitin"));
    assert_eq!(
        probed.works,
        ["The token is good.", "`Message Content Intent` is allowed."]
    );
    assert_eq!(probed.lacks.len(), 1);
    assert!(
        probed.lacks[0]
            .hint
            .as_deref()
            .unwrap()
            .contains("client_id=900000000000000001")
    );
    discord.guild("Yard");
    discord.application_flags(0);
    let probed = surface.probe().await.remove(0);
    assert_eq!(probed.works, ["The token is good.", "It is in one server."]);
    assert!(
        probed.lacks[0]
            .what
            .contains("`Message Content Intent` is not allowed")
    );
    discord.revoke_token();
    let probed = surface.probe().await.remove(0);
    assert_eq!(
        probed.lacks[0].what,
        "Discord does not take the token of the bot."
    );
}
