//! Ways to misbehave.

use super::FakeSlack;
use super::state::{Fault, Out};
use serde_json::{Value, json};
use std::time::Duration;

impl FakeSlack {
    /// Breaks all connections without a word.
    pub fn break_connections(&self) {
        self.to_all(&Out::Break);
    }

    /// Closes all connections, as they should be closed.
    pub fn close_connections(&self) {
        self.to_all(&Out::Close);
    }

    /// Says on all connections that they are about to go: `warning`, `refresh_requested`, `link_disabled`, `too_many_websockets`.
    pub fn disconnect(&self, reason: &str) {
        self.raw(&json!({"type": "disconnect", "reason": reason, "debug_info": {}}).to_string());
    }

    /// Closes the oldest connection.
    pub fn close_oldest(&self) {
        self.shared.change(|state| {
            if let Some(socket) = state.sockets.values().next() {
                let _ = socket.send(Out::Close);
            }
        });
    }

    /// Sends something of its own over all connections.
    pub fn raw(&self, text: &str) {
        self.to_all(&Out::Text(text.to_owned()));
    }

    /// Tells an event again, in an envelope of its own, as if nobody had acknowledged it.
    pub fn tell_again(&self, event: &Value, event_id: &str) {
        let payload = json!({
            "type": "event_callback", "team_id": super::TEAM, "event_id": event_id, "event": event,
        });
        self.shared
            .change(|state| state.tell_again(event_id, payload, 1));
    }

    /// Takes all tokens back: every call is refused so.
    pub fn revoke(&self, code: &str) {
        self.shared
            .change(|state| state.revoked = Some(code.to_owned()));
    }

    /// Limits the next call of a method.
    pub fn limit(&self, method: &str, seconds: u64) {
        self.fault(method, Fault::Limit(seconds));
    }

    /// Refuses the next call of a method.
    pub fn refuse(&self, method: &str, code: &str, needed: Option<&str>) {
        self.fault(
            method,
            Fault::Refuse(code.to_owned(), needed.map(str::to_owned)),
        );
    }

    /// Answers the next call of a method with a status and a page.
    pub fn status(&self, method: &str, status: u16) {
        self.fault(method, Fault::Status(status));
    }

    /// Answers the next call of a method late.
    pub fn delay(&self, method: &str, wait: Duration) {
        self.fault(method, Fault::Delay(wait));
    }

    /// Sets how long an acknowledgement may take before an envelope is told again.
    pub fn ack_within(&self, wait: Duration) {
        self.shared.change(|state| state.ack_within = wait);
    }

    /// Sets what the bot token may do.
    pub fn scopes(&self, scopes: &str) {
        self.shared
            .change(|state| scopes.clone_into(&mut state.scopes));
    }

    /// Puts a file into the workspace, and returns what a message says of it.
    pub fn file(&self, name: &str, mime: &str, bytes: &[u8]) -> Value {
        let place = self.place.http();
        self.shared.change(|state| {
            let id = format!("F{:06}", state.number());
            let facts = json!({
                "id": id, "name": name, "mimetype": mime, "size": bytes.len(),
                "url_private_download": format!("{place}/files/{id}"),
            });
            state.files.insert(id, (bytes.to_vec(), facts.clone()));
            facts
        })
    }

    /// Sends whoever fetches a file elsewhere.
    pub fn redirect_file(&self, id: &str, to: &str) {
        self.shared.change(|state| {
            if let Some((_, facts)) = state.files.get_mut(id) {
                facts["redirect"] = json!(to);
            }
        });
    }

    /// Returns the bytes of a file by its name.
    pub fn bytes_of(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.shared.lock();
        let mut files = state.files.values();
        let found = files.find(|(_, facts)| facts["name"] == name);
        found.map(|(bytes, _)| bytes.clone())
    }

    fn fault(&self, method: &str, fault: Fault) {
        self.shared.change(|state| {
            let faults = state.faults.entry(method.to_owned()).or_default();
            faults.push_back(fault);
        });
    }

    fn to_all(&self, out: &Out) {
        self.shared.change(|state| {
            for socket in state.sockets.values() {
                let _ = socket.send(out.clone());
            }
        });
    }
}
