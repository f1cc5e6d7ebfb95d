//! What comes over a WebSocket of Socket Mode.

use crate::event::{self, Happened, SlackPayload};
use serde_json::Value;

/// The longest name of an envelope.
const LONGEST_ID: usize = 128;

/// One thing that came.
#[derive(Debug, Clone, PartialEq)]
pub enum Envelope {
    /// The connection works.
    Hello,
    /// The connection is about to go, and why.
    Disconnect(DisconnectReason),
    /// Something happened. It has to be acknowledged by the envelope's name.
    Event {
        /// The envelope's name.
        envelope_id: String,
        /// What happened.
        happened: Box<Happened>,
    },
    /// Something that is not for us, or that cannot be understood. It is acknowledged, because it would be the same the next time.
    Other {
        /// The envelope's name.
        envelope_id: String,
        /// What is wrong with it, if something is.
        problem: Option<String>,
    },
}

/// Why a connection is about to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisconnectReason {
    /// Slack moves it; a new one is to be opened.
    Refresh,
    /// Socket Mode was switched off.
    Off,
    /// There are too many, or something else.
    Other,
}

/// Reads what came.
///
/// # Errors
///
/// What is wrong with it, as a sentence. There is nothing to acknowledge then.
pub fn read(text: &str) -> Result<Envelope, String> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| format!("It is no JSON: {error}."))?;
    match value["type"].as_str() {
        Some("hello") => return Ok(Envelope::Hello),
        Some("disconnect") => {
            return Ok(Envelope::Disconnect(match value["reason"].as_str() {
                Some("warning" | "refresh_requested") => DisconnectReason::Refresh,
                Some("link_disabled") => DisconnectReason::Off,
                _ => DisconnectReason::Other,
            }));
        }
        _ => {}
    }
    let id = value["envelope_id"].as_str();
    let id = id.filter(|id| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(plain)
    });
    let Some(envelope_id) = id.map(str::to_owned) else {
        return Err("An envelope without a name.".to_owned());
    };
    if value["type"] != "events_api" {
        return Ok(Envelope::Other {
            envelope_id,
            problem: None,
        });
    }
    Ok(match event::payload(&value["payload"]) {
        Ok(SlackPayload::Event(happened)) => Envelope::Event {
            envelope_id,
            happened,
        },
        Ok(SlackPayload::Challenge(_)) => Envelope::Other {
            envelope_id,
            problem: None,
        },
        Err(problem) => Envelope::Other {
            envelope_id,
            problem: Some(problem),
        },
    })
}
