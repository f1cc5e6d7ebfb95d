//! Everything that comes from outside is read without harm.

use chitin_slack::envelope::{self, DisconnectReason, Envelope};
use chitin_slack::event::{self, SlackEvent, SlackPayload};
use chitin_slack::mrkdwn::{harmless, names, people, readable};
use chitin_slack::signature::{self, Unsigned};
use proptest::prelude::*;
use serde_json::json;

fn plain(text: &str) -> String {
    readable(text, Some("UBOT"), |id| {
        (id == "U1").then(|| "Ada".to_owned())
    })
}

#[test]
fn slacks_writing_is_made_readable() {
    for (written, read) in [
        ("<@UBOT> hello", "hello"),
        ("hello <@UBOT> you", "hello you"),
        ("hello, <@UBOT>", "hello,"),
        ("<@U1> and <@U2> and <@U3|cat>", "@Ada and @U2 and @U3"),
        ("<#C1|berths> <#C2>", "#berths #C2"),
        (
            "<!here> <!subteam^S1|@crew> <!date^1^{date}|May 1>",
            "@here @crew May 1",
        ),
        ("<https://x.example|plan>", "plan (https://x.example)"),
        (
            "<https://x.example> <http://x.example|x.example>",
            "https://x.example http://x.example",
        ),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        (
            "1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;",
            "1 < 2 && 3 > 2 &lt;",
        ),
        ("a < b <", "a < b <"),
    ] {
        assert_eq!(plain(written), read, "{written}");
    }
    assert!(names("hi <@UBOT|me>!", "UBOT") && !names("hi @UBOT &lt;@UBOT&gt;", "UBOT"));
    assert_eq!(people("<@U1> <@U2> <@U1> <@U3>", 2), ["U1", "U2"]);
}

#[test]
fn envelopes_are_what_slack_documents() {
    assert_eq!(envelope::read(r#"{"type":"hello"}"#), Ok(Envelope::Hello));
    for (reason, read) in [
        ("warning", DisconnectReason::Refresh),
        ("refresh_requested", DisconnectReason::Refresh),
        ("link_disabled", DisconnectReason::Off),
        ("x", DisconnectReason::Other),
    ] {
        let text = json!({"type": "disconnect", "reason": reason}).to_string();
        assert_eq!(envelope::read(&text), Ok(Envelope::Disconnect(read)));
    }
    let message = json!({
        "type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": "hi", "ts": "1.2", "thread_ts": "1.1",
        "files": [{"id": "F1", "name": "../../etc/passwd", "mimetype": "text/plain", "size": 3}],
    });
    let text = json!({"type": "events_api", "envelope_id": "e-1", "payload": {"type": "event_callback", "event_id": "Ev1", "event": message}});
    let Ok(Envelope::Event {
        envelope_id,
        happened,
    }) = envelope::read(&text.to_string())
    else {
        unreachable!()
    };
    let SlackEvent::Message(message) = happened.event else {
        unreachable!()
    };
    assert_eq!(
        (envelope_id.as_str(), message.thread()),
        ("e-1", Some("1.1"))
    );
    assert_eq!(message.files[0].name, "passwd");
}

#[test]
fn a_challenge_is_given_back_and_a_revoked_token_is_seen() {
    let challenge = br#"{"type":"url_verification","challenge":"abc"}"#;
    assert_eq!(
        event::read(challenge),
        Ok(SlackPayload::Challenge("abc".to_owned()))
    );
    for (event, revoked) in [
        (json!({"type": "app_uninstalled"}), true),
        (
            json!({"type": "tokens_revoked", "tokens": {"bot": ["UBOT"]}}),
            true,
        ),
        (
            json!({"type": "tokens_revoked", "tokens": {"oauth": ["U1"]}}),
            false,
        ),
    ] {
        let body = json!({"type": "event_callback", "event": event}).to_string();
        let Ok(SlackPayload::Event(happened)) = event::read(body.as_bytes()) else {
            unreachable!()
        };
        assert_eq!(happened.event == SlackEvent::Revoked, revoked);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_text_breaks_the_reader(text in "[<>@#!|&a-z;U1 ./:^]{0,60}") {
        let read = plain(&text);
        prop_assert!(read.len() <= text.len() + 3 * text.matches('<').count() * 3);
        prop_assert!(!names(&text, "UBOT") || text.contains("<@UBOT"));
    }

    /// Whatever a model writes, nobody but those whom it names by id is woken.
    #[test]
    fn nothing_that_is_sent_wakes_everybody(text in "(<!(here|channel|everyone)>|<|!|>|[a-z ]){0,20}") {
        prop_assert!(!harmless(&text).contains("<!"));
    }

    #[test]
    fn nothing_that_comes_makes_the_reader_fall(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        let _ = envelope::read(&text);
        let _ = event::read(&bytes);
        let odd = json!({"type": "events_api", "envelope_id": text, "payload": {"type": "event_callback", "event": {"type": "message", "channel": text}}});
        let read = envelope::read(&odd.to_string());
        prop_assert!(!matches!(read, Ok(Envelope::Event { .. })), "a message without a time");
    }

    /// Only the very bytes that were signed are believed, and only around the time at which they were.
    #[test]
    fn no_other_body_time_or_secret_is_believed(body in any::<Vec<u8>>(), at in 1_000_000i64..4_000_000_000, flip in any::<prop::sample::Index>()) {
        let secret = "s3cret".to_owned().into();
        let time = at.to_string();
        let signed = |signature: &str, body: &[u8], now: i64| signature::check(&secret, Some(&time), Some(signature), body, now * 1_000);
        let signature = sign("s3cret", &time, &body);
        prop_assert_eq!(signed(&signature, &body, at + 299), Ok(()));
        prop_assert_eq!(signed(&signature, &body, at + 301), Err(Unsigned::Old));
        prop_assert_eq!(signed(&signature, &body, at - 301), Err(Unsigned::Old));
        let mut other = body.clone();
        other.push(0);
        let place = flip.index(other.len());
        other[place] ^= 1;
        prop_assert_eq!(signed(&signature, &other, at), Err(Unsigned::Wrong));
        prop_assert_eq!(signed(&signature.to_uppercase(), &body, at), Err(Unsigned::Wrong));
        let empty = String::new().into();
        let unsigned = signature::check(&empty, Some(&time), Some(&sign("", &time, &body)), &body, at * 1_000);
        prop_assert_eq!(unsigned, Err(Unsigned::Wrong));
    }
}

/// Signs as Slack does, for keys of at most a block.
fn sign(key: &str, at: &str, body: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let mut block = key.as_bytes().to_vec();
    block.resize(64, 0);
    let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<u8>>();
    let base = [b"v0:", at.as_bytes(), b":", body].concat();
    let inner = Sha256::digest([pad(0x36), base].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    outer
        .iter()
        .fold("v0=".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))
}
