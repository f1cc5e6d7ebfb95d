//! TLS: everything goes over it, an authority of the user's own is trusted, and nobody else is.

use crate::stage::Setting;
use crate::yard::{Yard, trusting};
use chitin_discord::{Discord, DiscordError, DiscordNotes, DiscordSettings, PositionStore};
use chitin_gateway::Surface;
use chitin_gateway::surface::{Connection, Network};
use chitin_net::{OWN_AUTHORITIES, TlsRoots};
use chitin_test::discord::{FakeDiscord, TOKEN};
use chitin_test::tls::Authority;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Connects to a Discord over TLS as long as it does not work, and returns what is said of it.
async fn refused(discord: FakeDiscord, trust: &TlsRoots, extra: &Value) -> (Yard, String) {
    let mut yard = Yard::beside(discord, trust, &[], extra);
    yard.begin();
    let failed =
        |connection: &Connection| matches!(connection, Connection::Connecting { reason: Some(_) });
    let standing = yard.until_standing("refused", failed).await;
    let Connection::Connecting {
        reason: Some(reason),
    } = standing
    else {
        unreachable!("{standing:?}")
    };
    (yard, reason)
}

#[tokio::test]
async fn behind_a_companys_proxy_people_are_heard_and_answered_over_tls() {
    let authority = Authority::new();
    let replies = [json!({"text": "Larch."}), json!({"text": "Oak."})];
    let yard = Yard::beside(
        FakeDiscord::start_tls(&authority),
        &TlsRoots::with_file(authority.file()),
        &replies,
        &json!({}),
    );
    let yard = yard.connect().await;
    let saying = yard.discord.saying(&yard.channel, &yard.ada, "Which wood?");
    saying.file("list.txt", "text/plain", b"larch").say();
    assert_eq!(yard.discord.until_posted(1).await, [yard.here("Larch.")]);
    let fetched = yard.discord.asked_for("/attachments/");
    assert_eq!(fetched.len(), 1, "files come over TLS too");
    yard.stage.rest().await;
    yard.discord.break_connections();
    yard.discord
        .until("a resume", |discord| {
            (discord.greetings().1 == 1).then_some(())
        })
        .await;
    yard.say_and_wait("And the mast?", 2).await;
    assert_eq!(yard.discord.texts()[1], yard.here("Oak."));
    assert_eq!(yard.discord.greetings().0, 1, "the session went on");
    assert_eq!(yard.notes(), "", "nothing went wrong on the way");
}

/// However a connection ends, the next one goes over TLS too, to where the session goes on.
#[tokio::test]
async fn every_break_is_resumed_over_tls_until_the_token_is_taken_back() {
    let authority = Authority::new();
    let replies: Vec<Value> = (0..3)
        .map(|number| json!({"text": format!("Answer {number}.")}))
        .collect();
    let discord = FakeDiscord::start_tls(&authority);
    let trust = TlsRoots::with_file(authority.file());
    let yard = Yard::beside(discord, &trust, &replies, &json!({}));
    let mut yard = yard.connect().await;
    for round in 1..=3 {
        match round {
            1 => yard.discord.break_connections(),
            2 => yard.discord.ask_to_reconnect(),
            _ => yard.discord.close_connections(4000),
        }
        // Said while nobody listens, or on the connection that goes.
        yard.discord.say(&yard.channel, &yard.ada, "Still there?");
        yard.discord.until_posted(round).await;
        yard.stage.rest().await;
        yard.until_connected().await;
    }
    let (identified, resumed, _) = yard.discord.greetings();
    assert_eq!((identified, resumed), (1, 3), "each break was resumed");
    assert_eq!(yard.notes(), "", "nothing went past the relay");
    yard.discord.revoke_token();
    yard.until_over().await;
    let standing = yard.surface.accounts().remove(0).connection;
    assert!(
        matches!(&standing, Connection::Failed { reason, .. } if reason.contains("token")),
        "{standing:?}"
    );
}

/// What is remembered for the next run is Discord's own address, not that of a connection of this run.
#[tokio::test]
async fn a_session_over_tls_goes_on_after_a_restart() {
    let authority = Authority::new();
    let trust = TlsRoots::with_file(authority.file());
    let directory = tempfile::tempdir().unwrap();
    let discord = FakeDiscord::start_tls(&authority);
    let mut yard = Yard::beside(discord, &trust, &[], &json!({}));
    for _ in 0..3 {
        yard = restarted(yard, directory.path(), &trust).await;
        yard.end().await;
        let file = directory.path().join("discord-default.json");
        let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(kept["resumeUrl"], yard.discord.gateway_url());
    }
    let (identified, resumed, _) = yard.discord.greetings();
    assert_eq!((identified, resumed), (1, 2));
}

async fn restarted(yard: Yard, memory: &Path, trust: &TlsRoots) -> Yard {
    let config = yard.stage.host.config.clone();
    let section = &config["channels"]["discord"];
    let memory = PositionStore::in_directory(memory);
    let (surface, notes) = trusting(&yard.discord, section, memory, trust.clone());
    let stage = Setting::replies(&[])
        .config(config)
        .surface(Arc::clone(&surface) as Arc<dyn Surface>)
        .stage();
    yard.replaced(surface, stage, notes).connect().await
}

#[tokio::test]
async fn without_the_authority_nothing_is_sent_and_the_certificate_and_the_variable_are_named() {
    let authority = Authority::new();
    let discord = FakeDiscord::start_tls(&authority);
    let (yard, reason) = refused(discord, &TlsRoots::default(), &json!({})).await;
    assert!(reason.contains("certificate"), "{reason}");
    assert!(reason.contains(OWN_AUTHORITIES), "{reason}");
    assert!(yard.discord.asked().is_empty(), "no token went anywhere");
    let probed = yard.surface.probe().await.remove(0);
    assert!(
        probed.lacks[0].what.contains(OWN_AUTHORITIES),
        "trying says it too: {probed:?}"
    );
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused_whoever_signed_it() {
    let authority = Authority::for_names("DNS:elsewhere.example");
    let trust = TlsRoots::with_file(authority.file());
    let (yard, reason) = refused(FakeDiscord::start_tls(&authority), &trust, &json!({})).await;
    assert!(reason.contains("another host"), "{reason}");
    assert!(yard.discord.asked().is_empty());
}

/// Requests and events go to different hosts, each with a certificate of its own.
#[tokio::test]
async fn events_are_refused_too_when_only_their_certificate_is_wrong() {
    let (authority, other) = (Authority::new(), Authority::new());
    let discord = FakeDiscord::start_tls(&authority);
    let events = other.front(
        discord
            .gateway_url()
            .trim_start_matches("wss://")
            .parse()
            .unwrap(),
    );
    let extra = json!({"gatewayUrl": format!("wss://{}", events.address())});
    let trust = TlsRoots::with_file(authority.file());
    let (yard, reason) = refused(discord, &trust, &extra).await;
    assert!(
        reason.contains("certificate") && reason.contains(OWN_AUTHORITIES),
        "{reason}"
    );
    assert_eq!(yard.discord.greetings(), (0, 0, 0), "nobody identified");
}

#[test]
fn a_file_of_authorities_that_cannot_be_used_is_said_when_the_surface_is_made() {
    let settings = DiscordSettings::default().trusting(TlsRoots::with_file("/nowhere/at/all.pem"));
    let tokens = BTreeMap::from([("default".to_owned(), TOKEN.to_owned().into())]);
    let note: DiscordNotes = Arc::new(|_: &str| {});
    let error = Discord::new(&settings, tokens, PositionStore::none(), &note).unwrap_err();
    assert!(matches!(error, DiscordError::Http(_)));
    let said = error.to_string();
    assert!(
        said.contains(OWN_AUTHORITIES) && said.contains("/nowhere/at/all.pem"),
        "{said}"
    );
}
