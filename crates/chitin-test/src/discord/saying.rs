//! What people say.

use super::state::State;
use super::{BOT, FakeDiscord};
use serde_json::{Value, json};

/// Something that a person says.
pub struct Saying<'a> {
    discord: &'a FakeDiscord,
    channel: String,
    person: String,
    text: String,
    reply_to: Option<String>,
    files: Vec<(String, String, Vec<u8>, Option<u64>)>,
    quiet: bool,
    extra: Value,
}

impl<'a> Saying<'a> {
    pub(super) fn new(discord: &'a FakeDiscord, channel: &str, person: &str, text: &str) -> Self {
        Self {
            discord,
            channel: channel.to_owned(),
            person: person.to_owned(),
            text: text.to_owned(),
            reply_to: None,
            files: Vec::new(),
            quiet: false,
            extra: Value::Null,
        }
    }

    /// Says it as a reply.
    #[must_use]
    pub fn reply_to(mut self, message: &str) -> Self {
        self.reply_to = Some(message.to_owned());
        self
    }

    /// Hangs a file on it.
    #[must_use]
    pub fn file(mut self, name: &str, mime: &str, bytes: &[u8]) -> Self {
        self.files
            .push((name.to_owned(), mime.to_owned(), bytes.to_vec(), None));
        self
    }

    /// Hangs a file on it that claims to be of another size.
    #[must_use]
    pub fn file_of_size(mut self, name: &str, mime: &str, bytes: &[u8], size: u64) -> Self {
        self.files
            .push((name.to_owned(), mime.to_owned(), bytes.to_vec(), Some(size)));
        self
    }

    /// Says it without an event, as what was said before the bot came.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// Puts other fields into the message.
    #[must_use]
    pub fn with(mut self, extra: Value) -> Self {
        self.extra = extra;
        self
    }

    /// Says it, and returns the message.
    pub fn say(self) -> String {
        self.discord.shared.change(|state| {
            let id = state.new_id();
            let message = self.message(state, &id);
            state.messages.push(message.clone());
            if !self.quiet {
                state.dispatch("MESSAGE_CREATE", &message);
            }
            id
        })
    }

    fn message(&self, state: &mut State, id: &str) -> Value {
        let attachments: Vec<Value> = self
            .files
            .iter()
            .map(|(name, mime, bytes, size)| {
                let file = state.new_id();
                let path = format!("/attachments/{}/{file}/{name}", self.channel);
                let url = format!("{}{path}", state.place().http());
                state.files.insert(path, (mime.clone(), bytes.clone()));
                let size = size.unwrap_or(bytes.len() as u64);
                json!({"id": file, "filename": name, "content_type": mime, "size": size, "url": url, "proxy_url": url})
            })
            .collect();
        let guild = state
            .channels
            .get(&self.channel)
            .map(|channel| channel["guild_id"].clone());
        let referenced = self
            .reply_to
            .as_ref()
            .and_then(|id| state.message(id).cloned());
        let mut message = json!({
            "id": id, "channel_id": self.channel, "type": if referenced.is_some() { 19 } else { 0 },
            "author": state.user(&self.person), "content": self.text, "timestamp": "2026-02-03T04:05:06.000000+00:00",
            "edited_timestamp": null, "tts": false, "mention_everyone": self.text.contains("@everyone"),
            "mentions": mentions(state, &self.text), "mention_roles": roles(&self.text), "attachments": attachments,
            "embeds": [], "pinned": false, "referenced_message": referenced,
        });
        if let Some(guild) = guild.filter(|guild| !guild.is_null()) {
            message["guild_id"] = guild;
            message["member"] = json!({"nick": null, "roles": ["910000000000000002"], "joined_at": "2020-01-01T00:00:00Z"});
        }
        if let Value::Object(extra) = &self.extra {
            for (field, value) in extra {
                message[field] = value.clone();
            }
        }
        message
    }
}

/// Returns the people that a text names.
pub(super) fn mentions(state: &State, text: &str) -> Vec<Value> {
    let people = state.people.keys();
    people
        .filter(|id| text.contains(&format!("<@{id}>")) || text.contains(&format!("<@!{id}>")))
        .map(|id| state.user(id))
        .collect()
}

fn roles(text: &str) -> Vec<&str> {
    let roles = ["910000000000000001", "910000000000000002"];
    roles
        .into_iter()
        .filter(|role| text.contains(&format!("<@&{role}>")))
        .collect()
}

/// Makes a message of the bot's own.
pub(super) fn of_the_bot(state: &State, id: &str, channel: &str, body: &Value) -> Value {
    let text = body["content"].as_str().unwrap_or_default();
    let guild = state
        .channels
        .get(channel)
        .map(|channel| channel["guild_id"].clone());
    let mut message = json!({
        "id": id, "channel_id": channel, "type": 0, "author": state.user(BOT), "content": text,
        "timestamp": "2026-02-03T04:05:07.000000+00:00", "edited_timestamp": null, "mentions": mentions(state, text),
        "mention_roles": [], "attachments": [], "embeds": [], "nonce": body["nonce"],
    });
    if let Some(guild) = guild.filter(|guild| !guild.is_null()) {
        message["guild_id"] = guild;
    }
    message
}
