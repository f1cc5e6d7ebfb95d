//! What the workspace knows.

use super::{BOT_ID, BOT_USER, TEAM};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often Slack tells something that is not acknowledged.
const MOST_RETRIES: u64 = 3;

/// What the workspace knows.
pub struct State {
    /// People by id, as `users.info` shows them.
    pub users: BTreeMap<String, Value>,
    /// Rooms by id, as `conversations.info` shows them.
    pub rooms: BTreeMap<String, Value>,
    /// Messages by room, the oldest first.
    pub messages: BTreeMap<String, Vec<Value>>,
    /// What was called.
    pub calls: Vec<Call>,
    /// What was told and is not acknowledged, by the envelope's id.
    pub pending: BTreeMap<String, Pending>,
    /// Events that were acknowledged, by id.
    pub acknowledged: Vec<String>,
    /// Files by id: their bytes and what is said of them.
    pub files: BTreeMap<String, (Vec<u8>, Value)>,
    /// How many connections were opened so far.
    pub opened: usize,
    /// What was sent over sockets that is no acknowledgement.
    pub odd: Vec<String>,
    /// What the bot token may do.
    pub scopes: String,
    /// Whether the app hears of its own messages, as on Slack.
    pub echo: bool,
    /// How long an acknowledgement may take.
    pub ack_within: Duration,
    pub(super) faults: HashMap<String, VecDeque<Fault>>,
    pub(super) revoked: Option<String>,
    pub(super) sockets: BTreeMap<usize, mpsc::UnboundedSender<Out>>,
    pub(super) tickets: Vec<String>,
    next: u64,
}

/// Something that a method is to do wrong.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    Limit(u64),
    Refuse(String, Option<String>),
    Status(u16),
    Delay(Duration),
}

/// What goes to a socket.
#[derive(Debug, Clone)]
pub(super) enum Out {
    Text(String),
    /// The connection breaks without a word.
    Break,
    Close,
}

/// A call of the Web API.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The token that came with it.
    pub token: String,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
}

/// A message that the app posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// Where.
    pub channel: String,
    /// In which thread.
    pub thread: Option<String>,
    /// What.
    pub text: String,
    /// When.
    pub ts: String,
    /// The names of its files.
    pub files: Vec<String>,
}

impl fmt::Display for Posted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = self.thread.as_deref().map(|thread| format!("/{thread}"));
        write!(
            f,
            "{}{}: {}",
            self.channel,
            thread.unwrap_or_default(),
            self.text
        )
    }
}

/// An event on its way.
#[derive(Debug, Clone)]
pub struct Pending {
    /// The event's id.
    pub event_id: String,
    /// What is told.
    pub payload: Value,
    /// How often it was told.
    pub told: u64,
    /// The connection that it went to.
    pub socket: Option<usize>,
}

impl Default for State {
    fn default() -> Self {
        let me = json!({
            "id": BOT_USER, "name": "chitin", "is_bot": true, "real_name": "Chitin",
            "profile": {"display_name": "Chitin"},
        });
        Self {
            users: [(BOT_USER.to_owned(), me)].into(),
            rooms: BTreeMap::new(),
            messages: BTreeMap::new(),
            calls: Vec::new(),
            pending: BTreeMap::new(),
            acknowledged: Vec::new(),
            files: BTreeMap::new(),
            opened: 0,
            odd: Vec::new(),
            scopes: "chat:write,channels:history,users:read".to_owned(),
            echo: true,
            ack_within: Duration::from_secs(3),
            faults: HashMap::new(),
            revoked: None,
            sockets: BTreeMap::new(),
            tickets: Vec::new(),
            next: 0,
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<&str> = self.calls.iter().map(|call| call.method.as_str()).collect();
        f.debug_struct("State")
            .field("posted", &self.posted())
            .field("pending", &self.pending)
            .field("acknowledged", &self.acknowledged)
            .field("sockets", &self.sockets.len())
            .field("methods", &methods)
            .finish_non_exhaustive()
    }
}

impl State {
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Keeps a message, and returns it as an event.
    pub(super) fn keep(&mut self, channel: &str, mut event: Value) -> Value {
        let number = self.number();
        let ts = format!("1700000{:03}.{number:06}", number % 1_000);
        event["ts"] = json!(ts);
        event["event_ts"] = json!(ts);
        event["channel"] = json!(channel);
        event["team"] = json!(TEAM);
        if let Some(kind) = self.rooms.get(channel).map(|room| room["kind"].clone()) {
            event["channel_type"] = kind;
        }
        let room = self.messages.entry(channel.to_owned()).or_default();
        let thread = event["thread_ts"].as_str().map(str::to_owned);
        if let Some(root) =
            thread.and_then(|thread| room.iter_mut().find(|said| said["ts"] == thread.as_str()))
        {
            event["parent_user_id"] = root["user"].clone();
            root["thread_ts"] = root["ts"].clone();
            root["reply_count"] = json!(root["reply_count"].as_u64().unwrap_or(0) + 1);
            root["latest_reply"] = json!(ts);
            let mut users = root["reply_users"].as_array().cloned().unwrap_or_default();
            if !users.contains(&event["user"]) {
                users.push(event["user"].clone());
            }
            root["reply_users"] = Value::Array(users);
        }
        room.push(event.clone());
        event
    }

    /// Tells the app of an event.
    pub(super) fn tell(&mut self, event: &Value) -> String {
        let event_id = format!("Ev{:06}", self.number());
        let payload = json!({
            "type": "event_callback", "team_id": TEAM, "api_app_id": "A1", "event_id": event_id,
            "event_time": 1_700_000_000, "event": event,
        });
        self.tell_again(&event_id, payload, 0);
        event_id
    }

    /// Tells the app of an event in an envelope of its own.
    pub(super) fn tell_again(&mut self, event_id: &str, payload: Value, told: u64) {
        let envelope_id = format!("en-{:06}", self.number());
        let pending = Pending {
            event_id: event_id.to_owned(),
            payload,
            told,
            socket: None,
        };
        self.pending.insert(envelope_id.clone(), pending);
        self.send(&envelope_id);
    }

    /// Sends an envelope over the newest connection, if there is one.
    pub(super) fn send(&mut self, envelope_id: &str) {
        let Some(pending) = self.pending.get_mut(envelope_id) else {
            return;
        };
        let mut envelope = json!({
            "type": "events_api", "envelope_id": envelope_id, "payload": pending.payload,
            "accepts_response_payload": false,
        });
        if pending.told > 0 {
            envelope["retry_attempt"] = json!(pending.told.min(MOST_RETRIES));
            envelope["retry_reason"] = json!("timeout");
        }
        let newest = self.sockets.iter().rev();
        for (id, socket) in newest {
            if socket.send(Out::Text(envelope.to_string())).is_ok() {
                pending.told += 1;
                pending.socket = Some(*id);
                return;
            }
        }
        pending.socket = None;
    }

    /// Returns what the app posted.
    pub fn posted(&self) -> Vec<Posted> {
        let all = self.messages.iter();
        let own = all.flat_map(|(channel, said)| said.iter().map(move |said| (channel, said)));
        let mut posted: Vec<Posted> = own
            .filter(|(_, said)| said["bot_id"] == BOT_ID)
            .map(|(channel, said)| {
                let files = said["files"].as_array().into_iter().flatten();
                Posted {
                    channel: channel.clone(),
                    // A message that began a thread stands in none.
                    thread: said["thread_ts"]
                        .as_str()
                        .filter(|thread| said["ts"] != **thread)
                        .map(str::to_owned),
                    text: said["text"].as_str().unwrap_or_default().to_owned(),
                    ts: said["ts"].as_str().unwrap_or_default().to_owned(),
                    files: files
                        .filter_map(|file| file["name"].as_str().map(str::to_owned))
                        .collect(),
                }
            })
            .collect();
        posted.sort_by(|one, other| number_of(&one.ts).cmp(number_of(&other.ts)));
        posted
    }

    /// Returns the calls of a method.
    pub fn calls_of(&self, method: &str) -> Vec<Call> {
        let calls = self.calls.iter().filter(|call| call.method == method);
        calls.cloned().collect()
    }

    /// Returns how many connections are open.
    pub fn open_connections(&self) -> usize {
        self.sockets.len()
    }
}

fn number_of(ts: &str) -> &str {
    ts.split('.').nth(1).unwrap_or_default()
}
