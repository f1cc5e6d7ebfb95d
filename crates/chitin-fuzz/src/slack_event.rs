//! What Slack sends, or somebody in its name: envelopes, calls, signatures, and the writing in messages.

use crate::novelty;
use chitin_slack::envelope::{self, Envelope};
use chitin_slack::event::{self, SlackEvent, SlackMessageEvent, SlackPayload};
use chitin_slack::{mrkdwn, signature};

/// What events are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"type\":\"events_api\",\"envelope_id\":\"e1\",\"payload\":",
    "{\"type\":\"event_callback\",\"event_id\":\"Ev1\",\"team_id\":\"T1\",\"event\":",
    "{\"type\":\"message\",\"channel\":\"C1\",\"ts\":\"1700000000.000100\",\"user\":\"U1\",\"text\":\"",
    "\"type\":\"app_mention\"",
    "\"type\":\"hello\"",
    "\"type\":\"disconnect\",\"reason\":\"warning\"",
    "\"type\":\"url_verification\",\"challenge\":\"x\"",
    "\"type\":\"tokens_revoked\",\"tokens\":{\"bot\":[\"UBOT\"]}",
    "\"thread_ts\":\"1700000000.000100\"",
    "\"parent_user_id\":\"UBOT\"",
    "\"subtype\":\"file_share\"",
    "\"channel_type\":\"im\"",
    "\"bot_id\":\"B1\"",
    "\"files\":[{\"id\":\"F1\",\"name\":\"../a\",\"mimetype\":\"image/png\",\"size\":3,\"url_private\":\"https://files.slack.com/x\"}]",
    "<@UBOT>",
    "<@U1|ada>",
    "<#C1|berths>",
    "<!everyone>",
    "<!date^1^{date}|May>",
    "<https://x.example|y>",
    "<mailto:a@b.example|a>",
    "&amp;",
    "&lt;",
    "&gt;",
    "|",
    "null",
    "}}}",
];

/// Takes the input as an envelope, as a call, as a message's text, and as what somebody signed.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_envelope(&text);
    match event::read(data) {
        Ok(payload) => check_payload(&payload),
        Err(reason) => assert!(reason.ends_with('.') && reason.len() < 1_024, "{reason}"),
    }
    check_text(&text);
    check_signature(data);
}

fn check_envelope(text: &str) {
    match envelope::read(text) {
        Ok(Envelope::Event {
            envelope_id,
            happened,
        }) => {
            assert!(!envelope_id.is_empty() && envelope_id.is_ascii());
            check_payload(&SlackPayload::Event(happened));
        }
        Ok(envelope) => novelty::note(std::mem::discriminant(&envelope)),
        Err(reason) => assert!(reason.ends_with('.') && reason.len() < 1_024, "{reason}"),
    }
}

fn check_payload(payload: &SlackPayload) {
    let SlackPayload::Event(happened) = payload else {
        return;
    };
    novelty::note(std::mem::discriminant(&happened.event));
    if let SlackEvent::Message(message) = &happened.event {
        check_message(message);
    }
}

/// Whatever came, ids can stand anywhere: in a key, in an address, in a line of a log.
fn check_message(message: &SlackMessageEvent) {
    let is_plain = |id: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.';
        (1..=64).contains(&id.len()) && id.bytes().all(plain)
    };
    assert!(is_plain(&message.channel) && is_plain(&message.ts));
    for id in [
        &message.user,
        &message.thread_ts,
        &message.bot_id,
        &message.parent_user,
    ] {
        assert!(id.as_deref().is_none_or(is_plain), "{message:?}");
    }
    assert!(message.files.len() <= 32);
    for file in &message.files {
        assert!(
            !file.name.is_empty() && !file.name.contains(['/', '\\', '\0', '\n']),
            "{file:?}"
        );
    }
    novelty::note((
        message.kind.is_some(),
        message.thread().is_some(),
        message.user.is_some(),
        message.files.len().min(3),
    ));
}

fn check_text(text: &str) {
    let read = mrkdwn::readable(text, Some("UBOT"), |_| None);
    assert_eq!(read.trim(), read);
    assert!(mrkdwn::people(text, 5).len() <= 5);
    assert!(!mrkdwn::harmless(text).contains("<!"));
    novelty::note(read.len().min(64));
}

/// Nobody guesses a signature, wherever the input is cut into time, signature and body.
fn check_signature(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == b'\n');
    let [time, signed, body] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let [time, signed] = [time, signed].map(String::from_utf8_lossy);
    let secret = "a secret that nobody knows".to_owned().into();
    let checked = signature::check(&secret, Some(&time), Some(&signed), body, 1_700_000_000_000);
    assert!(checked.is_err());
    novelty::note(checked);
}
