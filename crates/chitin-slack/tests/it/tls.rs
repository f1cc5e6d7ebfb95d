//! TLS: calls, files and the socket go over it, an authority of the user's own is trusted, and nobody else is.

use crate::stage::Setting;
use crate::yard::{Yard, tokens};
use chitin_gateway::surface::{Connection, Network};
use chitin_net::{OWN_AUTHORITIES, TlsRoots};
use chitin_slack::{Slack, SlackNotes, SlackSettings};
use chitin_test::slack::FakeSlack;
use chitin_test::tls::Authority;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn begin(slack: FakeSlack, trust: TlsRoots, replies: &[Value]) -> Yard {
    let section = json!({"replyToMode": "off"});
    Yard::trusting(slack, trust, &section, Setting::replies(replies))
}

/// Connects as long as it does not work, and returns what is said of it.
async fn refused(slack: FakeSlack, trust: TlsRoots) -> (Yard, String) {
    let yard = begin(slack, trust, &[]);
    let failed =
        |connection: &Connection| matches!(connection, Connection::Connecting { reason: Some(_) });
    let standing = yard.until_stands(failed).await;
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
    let slack = FakeSlack::start_tls(&authority);
    let yard = begin(slack, TlsRoots::with_file(authority.file()), &replies);
    yard.slack.until_connected(1).await;
    let file = yard.slack.file("list.txt", "text/plain", b"larch");
    yard.slack.write(
        "C1",
        "U1",
        "Which wood?",
        &json!({"files": [file], "subtype": "file_share"}),
    );
    yard.until_said(&["C1: Larch.".to_owned()]).await;
    yard.slack.break_connections();
    yard.slack.say("C1", "U1", "And the mast?");
    let both = ["C1: Larch.", "C1: Oak."].map(str::to_owned);
    yard.until_said(&both).await;
    yard.slack.until_acknowledged().await;
    assert_eq!(yard.surface.accounts()[0].connection, Connection::Connected);
}

#[tokio::test]
async fn without_the_authority_nothing_is_sent_and_the_certificate_and_the_variable_are_named() {
    let authority = Authority::new();
    let (yard, reason) = refused(FakeSlack::start_tls(&authority), TlsRoots::default()).await;
    assert!(reason.contains("certificate"), "{reason}");
    assert!(reason.contains(OWN_AUTHORITIES), "{reason}");
    assert!(
        yard.slack.calls("auth.test").is_empty(),
        "no token went anywhere"
    );
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
    let (yard, reason) = refused(FakeSlack::start_tls(&authority), trust).await;
    assert!(reason.contains("another host"), "{reason}");
    assert!(yard.slack.calls("auth.test").is_empty());
}

/// Calls go over a connection that is open already; the socket is a new one, and somebody else is there now.
#[tokio::test]
async fn a_socket_is_refused_too_when_only_its_certificate_is_wrong() {
    let (authority, other) = (Authority::new(), Authority::new());
    let slack = FakeSlack::start_tls(&authority);
    let yard = begin(slack, TlsRoots::with_file(authority.file()), &[]);
    yard.until_stands(|connection| *connection == Connection::Connected)
        .await;
    yard.slack.show_certificate(&other);
    yard.slack.break_connections();
    let said = |connection: &Connection| {
        let Connection::Connecting {
            reason: Some(reason),
        } = connection
        else {
            return false;
        };
        reason.contains("certificate") && reason.contains(OWN_AUTHORITIES)
    };
    yard.until_stands(said).await;
    let opened = yard.slack.calls("apps.connections.open");
    assert!(opened.len() > 1, "calls still work");
    yard.slack.show_certificate(&authority);
    yard.slack.until_connected(1).await;
}

#[test]
fn a_file_of_authorities_that_cannot_be_used_is_said_when_the_surface_is_made() {
    let settings = SlackSettings::read(&json!({})).unwrap();
    let settings = settings.trusting(TlsRoots::with_file("/nowhere/at/all.pem"));
    let tokens = BTreeMap::from([("default".to_owned(), tokens())]);
    let note: SlackNotes = Arc::new(|_: &str| {});
    let said = Slack::new(&settings, tokens, &note)
        .unwrap_err()
        .to_string();
    assert!(
        said.contains(OWN_AUTHORITIES) && said.contains("/nowhere/at/all.pem"),
        "{said}"
    );
}
