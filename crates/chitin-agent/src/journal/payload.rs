//! The payload log: every request as it was sent, and by some contracts every answer (R111).

use super::log::Log;
use super::moment::RequestSent;
use super::redact::REDACTED;
use super::run::{JournalEnvironment, Run};
use chitin_contract::{PayloadApis, TraceRules};
use chitin_model::Api;
use chitin_protocol::message::{AssistantMessage, Usage};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// How much of an answer's bytes is kept.
const RAW_LIMIT: usize = 1024 * 1024;

/// The payload log.
#[derive(Debug)]
pub(super) struct PayloadLog {
    pub(super) log: Log,
    /// The bytes of the answer that is coming in.
    raw: Arc<Mutex<Vec<u8>>>,
    usage: Option<Usage>,
}

impl PayloadLog {
    pub(super) fn new(log: Log) -> Self {
        Self {
            log,
            raw: Arc::default(),
            usage: None,
        }
    }

    /// Returns what takes the bytes of an answer, in contracts that keep them.
    pub(super) fn tee(&self, rules: &TraceRules) -> Option<chitin_model::model::Tee> {
        if !rules.payload_responses {
            return None;
        }
        let raw = Arc::clone(&self.raw);
        Some(chitin_model::model::Tee(Arc::new(move |bytes: &[u8]| {
            let mut raw = raw.lock().unwrap_or_else(PoisonError::into_inner);
            let room = RAW_LIMIT.saturating_sub(raw.len());
            raw.extend_from_slice(&bytes[..bytes.len().min(room)]);
        })))
    }

    const fn takes(api: Api, rules: &TraceRules) -> bool {
        match rules.payload_apis {
            PayloadApis::Every => true,
            PayloadApis::Anthropic => matches!(api, Api::AnthropicMessages),
        }
    }

    /// The body is written as it was sent; only where a secret or a picture is in it, it is written anew without.
    pub(super) fn request(
        &mut self,
        sent: &RequestSent<'_>,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        if !Self::takes(run.api, &around.rules) {
            return None;
        }
        let mut head = run.record(sent.sent_at);
        head.insert("stage".to_owned(), json!("request"));
        let body = body_text(&sent.prepared.body, around);
        let mut line = Value::Object(head).to_string();
        line.pop();
        line.push_str(",\"payload\":");
        line.push_str(&body);
        line.push_str(",\"payloadDigest\":");
        line.push_str(&json!(sent.prepared.digest).to_string());
        line.push('}');
        self.log.line(line)
    }

    pub(super) fn answer(
        &mut self,
        call: u32,
        message: &AssistantMessage,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        if !Self::takes(run.api, &around.rules) {
            return None;
        }
        self.usage = message.usage.or(self.usage);
        let response = serde_json::to_value(message).unwrap_or_default();
        self.response(call, json!({ "response": response }), run, around)
    }

    pub(super) fn no_answer(
        &mut self,
        call: u32,
        error: &str,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        if !Self::takes(run.api, &around.rules) {
            return None;
        }
        self.response(call, json!({ "error": error }), run, around)
    }

    fn response(
        &mut self,
        call: u32,
        mut fields: Value,
        run: &Run,
        around: &JournalEnvironment,
    ) -> Option<String> {
        if !around.rules.payload_responses {
            return None;
        }
        let raw = std::mem::take(&mut *self.raw.lock().unwrap_or_else(PoisonError::into_inner));
        // A secret that came in pieces is in no piece of the stream, but it is in the whole.
        let is_secret = around.redactor.value(&mut fields);
        if !raw.is_empty() {
            let text = String::from_utf8_lossy(&raw);
            fields["raw"] = match around.redactor.text(&text) {
                _ if is_secret => json!(REDACTED),
                text => json!(text),
            };
        }
        let mut record = run.record(around.now());
        record.insert("stage".to_owned(), json!("response"));
        record.insert("call".to_owned(), json!(call));
        if let Value::Object(fields) = fields {
            record.extend(fields);
        }
        self.log.line(Value::Object(record).to_string())
    }

    /// The usage of the last answer, once per turn.
    pub(super) fn end(&mut self, run: &Run, around: &JournalEnvironment) -> Option<String> {
        let usage = self.usage.take()?;
        let mut record = run.record(around.now());
        record.insert("stage".to_owned(), json!("usage"));
        record.insert("usage".to_owned(), json!(usage));
        self.log.line(Value::Object(record).to_string())
    }
}

/// Returns a body as it may stand in a log: itself if nothing in it is a secret.
pub(super) fn body_text(body: &[u8], around: &JournalEnvironment) -> String {
    let raw = String::from_utf8_lossy(body);
    match serde_json::from_slice::<Value>(body) {
        Ok(mut value) => {
            if around.redactor.value(&mut value) || raw.contains(['\n', '\r']) {
                value.to_string()
            } else {
                raw.into_owned()
            }
        }
        Err(_) => json!(around.redactor.text(&raw)).to_string(),
    }
}
