//! What the fake knows and remembers.

use super::faults::{Bucket, Rule};
use super::gateway::{Command, Session};
use super::{BOT, BOT_NAME, TOKEN};
use crate::tls::Place;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Intents, by bit.
pub(super) const MESSAGE_CONTENT: u64 = 1 << 15;

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path and what is behind it, without `/api/v10`.
    pub path: String,
    /// What was sent with it.
    pub body: Value,
    /// What was answered; 0 when nothing was.
    pub status: u16,
    /// What it called itself.
    pub agent: String,
}

/// A message that the bot posted.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// Its id.
    pub id: String,
    /// The channel.
    pub channel: String,
    /// What it says now.
    pub text: String,
    /// What it said before, the oldest first.
    pub before: Vec<String>,
    /// The request.
    pub body: Value,
    /// The files.
    pub files: Vec<SentFile>,
}

/// A file that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFile {
    /// What it is called.
    pub name: String,
    /// Its type.
    pub mime: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What the fake knows.
pub(crate) struct State {
    place: Place,
    pub(super) token: Option<String>,
    pub(super) forbidden_intents: u64,
    pub(super) flags: u64,
    pub(super) heartbeat_ms: u64,
    last_id: u64,
    pub(super) people: HashMap<String, String>,
    pub(super) guilds: BTreeMap<String, String>,
    pub(super) channels: BTreeMap<String, Value>,
    pub(super) messages: Vec<Value>,
    /// Reactions of the bot, as `message emoji`.
    pub(super) reactions: Vec<String>,
    pub(super) pins: Vec<(String, String)>,
    pub(super) files: HashMap<String, (String, Vec<u8>)>,
    pub(super) nonces: HashMap<String, String>,
    pub(super) posted: Vec<Posted>,
    pub(super) asked: Vec<Asked>,
    pub(super) rules: Vec<Rule>,
    pub(super) buckets: Vec<Bucket>,
    pub(super) sessions: HashMap<String, Session>,
    pub(super) identified: Vec<Value>,
    pub(super) resumed: usize,
    pub(super) heartbeats: usize,
    pub(super) lines: u64,
}

impl State {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            token: Some(TOKEN.to_owned()),
            forbidden_intents: 0,
            // Everything that can be allowed is.
            flags: (1 << 12) | (1 << 14) | (1 << 18),
            heartbeat_ms: 41_250,
            last_id: 100_000_000_000_000_000,
            people: HashMap::from([(BOT.to_owned(), BOT_NAME.to_owned())]),
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            messages: Vec::new(),
            reactions: Vec::new(),
            pins: Vec::new(),
            files: HashMap::new(),
            nonces: HashMap::new(),
            posted: Vec::new(),
            asked: Vec::new(),
            rules: Vec::new(),
            buckets: Vec::new(),
            sessions: HashMap::new(),
            identified: Vec::new(),
            resumed: 0,
            heartbeats: 0,
            lines: 0,
        }
    }

    /// Makes up an id; each is larger than the one before, as on Discord.
    pub(super) fn new_id(&mut self) -> String {
        self.last_id += 4_194_304 + 1;
        self.last_id.to_string()
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    pub(super) fn user(&self, id: &str) -> Value {
        let name = self.people.get(id).map_or("somebody", String::as_str);
        json!({
            "id": id, "username": name.to_lowercase(), "global_name": name, "discriminator": "0",
            "avatar": null, "bot": id == BOT,
        })
    }

    /// Returns a guild as `GUILD_CREATE` tells of it.
    pub(super) fn guild(&self, id: &str) -> Value {
        let is = |channel: &&Value, thread: bool| {
            let kind = channel["type"].as_u64().unwrap_or_default();
            channel["guild_id"] == id && (10..=12).contains(&kind) == thread
        };
        let all = |thread: bool| -> Vec<Value> {
            let channels = self.channels.values();
            channels
                .filter(|channel| is(channel, thread))
                .cloned()
                .collect()
        };
        json!({
            "id": id, "name": self.guilds.get(id), "unavailable": false, "channels": all(false), "threads": all(true),
            "roles": [
                {"id": id, "name": "@everyone"},
                {"id": "910000000000000001", "name": BOT_NAME, "managed": true, "tags": {"bot_id": BOT}},
                {"id": "910000000000000002", "name": "Wharf"},
            ],
            "members": [],
        })
    }

    pub(super) fn message(&self, id: &str) -> Option<&Value> {
        self.messages.iter().find(|message| message["id"] == id)
    }

    pub(super) fn new_thread(&mut self, id: &str, parent: &str, name: &str, owner: &str) -> Value {
        let guild = self
            .channels
            .get(parent)
            .map(|parent| parent["guild_id"].clone());
        let thread = json!({
            "id": id, "type": 11, "name": name, "parent_id": parent, "guild_id": guild, "owner_id": owner,
            "thread_metadata": {"archived": false, "auto_archive_duration": 60, "locked": false},
        });
        self.channels.insert(id.to_owned(), thread.clone());
        thread
    }

    /// Returns the conversation with a person, which is made if it is not there.
    pub(super) fn direct(&mut self, person: &str) -> Value {
        let found = self
            .channels
            .values()
            .find(|channel| channel["type"] == 1 && channel["recipients"][0]["id"] == person);
        if let Some(found) = found {
            return found.clone();
        }
        let id = self.new_id();
        let channel = json!({"id": id, "type": 1, "recipients": [self.user(person)]});
        self.channels.insert(id, channel.clone());
        channel
    }

    /// Tells everybody who is connected, and remembers it for those who will be again.
    pub(super) fn dispatch(&mut self, name: &str, data: &Value) {
        for session in self.sessions.values_mut() {
            let data = seen_with(name, data, session.intents);
            session.sequence += 1;
            let event = json!({"op": 0, "s": session.sequence, "t": name, "d": data}).to_string();
            session.log.push((session.sequence, event.clone()));
            session.send(Command::Text(event));
        }
    }
}

/// Returns an event as somebody with these intents sees it: without the right one, messages have no words unless they name the bot.
fn seen_with(name: &str, data: &Value, intents: u64) -> Value {
    let mut data = data.clone();
    let named = data["mentions"]
        .as_array()
        .is_some_and(|mentions| mentions.iter().any(|user| user["id"] == BOT));
    let own = data["author"]["id"] == BOT;
    if name == "MESSAGE_CREATE"
        && data["guild_id"].is_string()
        && intents & MESSAGE_CONTENT == 0
        && !named
        && !own
    {
        data["content"] = json!("");
        data["attachments"] = json!([]);
        data["embeds"] = json!([]);
    }
    data
}
