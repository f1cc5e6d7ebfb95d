//! Events over HTTP: signed as Slack signs them.

use super::{FakeSlack, SIGNING_SECRET, TEAM};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A call of Slack's over HTTP.
#[derive(Debug, Clone)]
pub struct SignedCall {
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl FakeSlack {
    /// Makes a signed call that tells of an event.
    pub fn signed_event(&self, event: &Value, event_id: &str, now_ms: i64) -> SignedCall {
        let body = json!({
            "type": "event_callback", "team_id": TEAM, "api_app_id": "A1", "event_id": event_id, "event": event,
        });
        self.signed(body.to_string().as_bytes(), now_ms)
    }

    /// Makes a signed call of any body.
    pub fn signed(&self, body: &[u8], now_ms: i64) -> SignedCall {
        let at = (now_ms / 1_000).to_string();
        let signature = signature(SIGNING_SECRET.as_bytes(), &at, body);
        SignedCall {
            headers: vec![
                ("content-type".to_owned(), "application/json".to_owned()),
                ("x-slack-request-timestamp".to_owned(), at),
                ("x-slack-signature".to_owned(), signature),
            ],
            body: body.to_vec(),
        }
    }
}

/// HMAC-SHA256 of `v0:time:body`, for keys of at most a block.
fn signature(key: &[u8], at: &str, body: &[u8]) -> String {
    let pad = |with: u8| -> Vec<u8> {
        let mut block = key.to_vec();
        block.resize(64, 0);
        block.into_iter().map(|byte| byte ^ with).collect()
    };
    let base = [b"v0:", at.as_bytes(), b":", body].concat();
    let inner = Sha256::digest([pad(0x36), base].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    let hex = outer.iter().map(|byte| format!("{byte:02x}"));
    format!("v0={}", hex.collect::<String>())
}
