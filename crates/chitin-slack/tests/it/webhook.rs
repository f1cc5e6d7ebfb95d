//! Events over HTTP: only Slack's own calls are believed, and each is dealt with once.

use crate::yard::Yard;
use chitin_gateway::surface::{WebhookAnswer, WebhookCall};
use chitin_test::slack::SignedCall;
use serde_json::{Value, json};

const MINUTE: i64 = 60_000;

async fn open(replies: &[Value]) -> Yard {
    Yard::open(&json!({"mode": "http", "replyToMode": "off"}), replies).await
}

async fn call(yard: &Yard, signed: SignedCall) -> WebhookAnswer {
    let hook = yard.surface.webhooks().remove(0);
    assert_eq!(hook.path(), "/slack/events");
    let call = WebhookCall {
        headers: signed.headers,
        body: signed.body,
    };
    hook.call(yard.stage.gateway.clone(), call).await
}

fn now(yard: &Yard) -> i64 {
    yard.stage.gateway.parts().clock.now_ms()
}

#[tokio::test]
async fn a_signed_event_is_taken_in_and_answered_and_told_again_it_is_known() {
    let yard = open(&[json!({"text": "Larch."}), json!({"text": "Oak."})]).await;
    let event = yard.slack.keep("C1", "U1", "Which wood?", &json!({}));
    let signed = yard.slack.signed_event(&event, "Ev1", now(&yard));
    assert_eq!(call(&yard, signed.clone()).await.status, 200);
    // Slack tells it again, somebody else replays it, and another event tells of the same message.
    let mut again = signed.clone();
    again
        .headers
        .push(("x-slack-retry-num".to_owned(), "1".to_owned()));
    assert_eq!(call(&yard, again).await.status, 200);
    assert_eq!(call(&yard, signed).await.status, 200);
    let other = yard.slack.signed_event(&event, "Ev2", now(&yard));
    assert_eq!(call(&yard, other).await.status, 200);
    yard.until_said(&["C1: Larch.".to_owned()]).await;
    let event = yard.slack.keep("C1", "U1", "And the mast?", &json!({}));
    let signed = yard.slack.signed_event(&event, "Ev3", now(&yard));
    assert_eq!(call(&yard, signed).await.status, 200);
    yard.until_said(&["C1: Larch.".to_owned(), "C1: Oak.".to_owned()])
        .await;
}

#[tokio::test]
async fn calls_of_others_are_refused_and_nothing_of_them_is_read() {
    let yard = open(&[]).await;
    let event = yard.slack.keep("C1", "U1", "Let me in", &json!({}));
    let good = yard.slack.signed_event(&event, "Ev1", now(&yard));
    let mut bare = good.clone();
    bare.headers.clear();
    let mut twice = good.clone();
    twice.headers.extend(good.headers.clone());
    let mut changed = good.clone();
    changed.body.push(b' ');
    let mut forged = good.clone();
    forged.headers[2].1 = format!("v0={}", "0".repeat(64));
    let mut odd_time = good.clone();
    odd_time.headers[1].1 = "-1".to_owned();
    let old = yard
        .slack
        .signed_event(&event, "Ev1", now(&yard) - 6 * MINUTE);
    let early = yard
        .slack
        .signed_event(&event, "Ev1", now(&yard) + 6 * MINUTE);
    for (call_of, word) in [
        (bare, "not signed"),
        (twice, "not signed"),
        (changed, "not Slack's"),
        (forged, "not Slack's"),
        (odd_time, "not signed"),
        (old, "another time"),
        (early, "another time"),
    ] {
        let answer = call(&yard, call_of).await;
        assert_eq!(answer.status, 401);
        assert!(answer.body.contains(word), "{}", answer.body);
    }
    yard.stage.rest().await;
    assert!(yard.slack.said().is_empty());
    let within = yard.slack.signed(b"{}", now(&yard) - 4 * MINUTE);
    assert_eq!(
        call(&yard, within).await.status,
        400,
        "believed, and not understood"
    );
}

#[tokio::test]
async fn slack_may_ask_whether_we_are_there_and_nobody_may_send_a_flood() {
    let yard = open(&[]).await;
    let ask = json!({"type": "url_verification", "challenge": "3eZbrw1a"});
    let signed = yard.slack.signed(ask.to_string().as_bytes(), now(&yard));
    let answer = call(&yard, signed).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "3eZbrw1a"));
    let flood = yard.slack.signed(&vec![b' '; (1 << 20) + 1], now(&yard));
    assert_eq!(call(&yard, flood).await.status, 413);
}

/// A gateway that is about to end takes nothing in: Slack is to call again.
#[tokio::test]
async fn what_cannot_be_taken_in_now_is_asked_for_again() {
    let yard = open(&[]).await;
    let drained = yard
        .stage
        .gateway
        .drain(std::time::Duration::from_millis(10));
    drained.await;
    let event = yard.slack.keep("C1", "U1", "Too late?", &json!({}));
    let signed = yard.slack.signed_event(&event, "Ev1", now(&yard));
    assert_eq!(call(&yard, signed.clone()).await.status, 503);
    assert_eq!(
        call(&yard, signed).await.status,
        503,
        "it does not count as known"
    );
}
