//! How the fake misbehaves, on demand.

use super::FakeDiscord;
use super::gateway::Command;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// There were too many on this route.
    TooMany {
        /// After how many seconds it may be tried again.
        retry_after: f64,
        /// Whether that holds for all routes.
        global: bool,
    },
    /// It is answered with a status and Discord's number for it.
    Status(u16, u64),
    /// It is answered by somebody else, in words that are no JSON.
    Words(u16),
    /// It is done, and the answer is lost.
    LoseAnswer,
}

/// What goes wrong, where, and how often.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The method.
    pub method: String,
    /// What the path has in it.
    pub fragment: String,
    /// How often.
    pub times: u32,
    /// What.
    pub fault: Fault,
}

/// A limit that is kept: so many requests in so much time.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    fragment: String,
    limit: u32,
    window: Duration,
    left: u32,
    full_at: Option<Instant>,
}

/// What is told of a limit.
pub(super) struct Told {
    pub(super) limit: u32,
    pub(super) left: u32,
    pub(super) reset_after: f64,
    pub(super) refused: bool,
}

impl Bucket {
    pub(super) fn is_for(&self, method: &str, path: &str) -> bool {
        format!("{method} {path}").contains(&self.fragment)
    }

    /// Counts a request.
    pub(super) fn count(&mut self) -> Told {
        let now = Instant::now();
        let full_at = match self.full_at {
            Some(full_at) if full_at > now => full_at,
            _ => {
                self.left = self.limit;
                *self.full_at.insert(now + self.window)
            }
        };
        let refused = self.left == 0;
        self.left = self.left.saturating_sub(1);
        Told {
            limit: self.limit,
            left: self.left,
            reset_after: (full_at - now).as_secs_f64(),
            refused,
        }
    }
}

impl FakeDiscord {
    /// Makes the next requests go wrong.
    pub fn fail(&self, method: &str, fragment: &str, times: u32, fault: Fault) {
        let rule = Rule {
            method: method.to_owned(),
            fragment: fragment.to_owned(),
            times,
            fault,
        };
        self.shared.change(|state| state.rules.push(rule));
    }

    /// Keeps a limit for requests such as `POST channels/42/messages`; it is told with every answer, as Discord does.
    pub fn limit(&self, fragment: &str, limit: u32, window: Duration) {
        let bucket = Bucket {
            fragment: fragment.to_owned(),
            limit,
            window,
            left: limit,
            full_at: None,
        };
        self.shared.change(|state| state.buckets.push(bucket));
    }

    /// Takes the token back: requests and connections with it are refused, and who is connected is thrown out.
    pub fn revoke_token(&self) {
        self.shared.change(|state| state.token = None);
        self.command(&Command::Close(4004));
    }

    /// Does not allow some intents.
    pub fn forbid_intents(&self, intents: u64) {
        self.shared
            .change(|state| state.forbidden_intents = intents);
    }

    /// Says what the application may see.
    pub fn application_flags(&self, flags: u64) {
        self.shared.change(|state| state.flags = flags);
    }

    /// Wants a heartbeat so often, from the next connection on.
    pub fn heartbeat_every(&self, milliseconds: u64) {
        self.shared
            .change(|state| state.heartbeat_ms = milliseconds);
    }

    /// Breaks all connections in the middle, without a word.
    pub fn break_connections(&self) {
        self.command(&Command::Break);
    }

    /// Closes all connections with a number.
    pub fn close_connections(&self, code: u16) {
        self.command(&Command::Close(code));
    }

    /// Asks everybody to connect again.
    pub fn ask_to_reconnect(&self) {
        self.command(&Command::Text(json!({"op": 7, "d": null}).to_string()));
    }

    /// Forgets all sessions, and says so.
    pub fn invalidate_sessions(&self) {
        self.command(&Command::Text(json!({"op": 9, "d": false}).to_string()));
        self.shared.change(|state| state.sessions.clear());
    }

    /// Sends an event again that was sent before: the last message.
    pub fn repeat_last_message(&self) {
        self.shared.change(|state| {
            let last = state
                .messages
                .iter()
                .rev()
                .find(|message| message["author"]["bot"] == false);
            if let Some(last) = last.cloned() {
                state.dispatch("MESSAGE_CREATE", &last);
            }
        });
    }

    /// Sends an event, whatever is in it.
    pub fn send_event(&self, name: &str, data: &Value) {
        self.shared.change(|state| state.dispatch(name, data));
    }

    /// Sends a text that need not be an event at all.
    pub fn send_text(&self, text: &str) {
        self.command(&Command::Text(text.to_owned()));
    }

    fn command(&self, command: &Command) {
        self.shared.change(|state| {
            for session in state.sessions.values() {
                session.send(command.clone());
            }
        });
    }
}
