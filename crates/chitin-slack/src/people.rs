//! What people and rooms are called. Names are asked for once and kept for a while.

use crate::account::Account;
use crate::event::{SlackChannelKind, is_id};
use crate::mrkdwn;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The most people of one text whose names are asked for.
const MOST_NAMED: usize = 20;

/// Somebody.
#[derive(Debug, Clone, Default)]
pub(crate) struct Person {
    /// What others see.
    pub(crate) shown: String,
    /// The name of the account.
    pub(crate) handle: Option<String>,
    /// The address, when the app may see it.
    pub(crate) email: Option<String>,
    pub(crate) is_program: bool,
}

/// A room.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) name: Option<String>,
    pub(crate) kind: SlackChannelKind,
}

impl Account {
    /// Returns who somebody is; nothing when Slack does not say.
    pub(crate) async fn person(&self, id: &str) -> Option<Arc<Person>> {
        if let Some(known) = self.people.get(id) {
            return Some(known);
        }
        if !is_id(id) {
            return None;
        }
        let found = self.call("users.info", &[("user", id)]).await;
        let person = match found {
            Ok(body) => person(&body["user"], id),
            // Asking again for the next message would not help.
            Err(error) if error.is_final() => Person {
                shown: id.to_owned(),
                ..Person::default()
            },
            Err(_) => return None,
        };
        let person = Arc::new(person);
        self.people.put(id, Arc::clone(&person));
        Some(person)
    }

    /// Returns what a room is; nothing when Slack does not say.
    pub(crate) async fn room(&self, id: &str) -> Option<Arc<Room>> {
        if let Some(known) = self.rooms.get(id) {
            return Some(known);
        }
        let found = self.call("conversations.info", &[("channel", id)]).await;
        let room = match found {
            Ok(body) => room(&body["channel"]),
            Err(error) if error.is_final() => Room {
                name: None,
                kind: guessed(id),
            },
            Err(_) => return None,
        };
        let room = Arc::new(room);
        self.rooms.put(id, Arc::clone(&room));
        Some(room)
    }

    /// Returns what kind of place a channel is.
    pub(crate) async fn kind_of(&self, channel: &str) -> SlackChannelKind {
        match self.room(channel).await {
            Some(room) => room.kind,
            None => guessed(channel),
        }
    }

    /// Makes a text readable, with the names of those whom it names.
    pub(crate) async fn readable(&self, text: &str, own: Option<&str>) -> String {
        let mut names = HashMap::new();
        for id in mrkdwn::people(text, MOST_NAMED) {
            if Some(id) == own {
                continue;
            }
            if let Some(person) = self.person(id).await {
                names.insert(id, person.shown.clone());
            }
        }
        mrkdwn::readable(text, own, |id| names.get(id).cloned())
    }
}

/// Guesses what a place is by its id.
fn guessed(id: &str) -> SlackChannelKind {
    if id.starts_with('D') {
        SlackChannelKind::Direct
    } else {
        SlackChannelKind::Channel
    }
}

fn person(user: &Value, id: &str) -> Person {
    let profile = &user["profile"];
    let filled = |value: &Value| {
        let text = value.as_str()?.split_whitespace().collect::<Vec<_>>();
        let text: String = text.join(" ").chars().take(80).collect();
        (!text.is_empty()).then_some(text)
    };
    let shown = [
        &profile["display_name"],
        &profile["real_name"],
        &user["real_name"],
        &user["name"],
    ];
    Person {
        shown: shown
            .into_iter()
            .find_map(filled)
            .unwrap_or_else(|| id.to_owned()),
        handle: filled(&user["name"]),
        email: filled(&profile["email"]),
        is_program: user["is_bot"] == true,
    }
}

fn room(channel: &Value) -> Room {
    let name = channel["name"].as_str().filter(|name| !name.is_empty());
    let kind = if channel["is_im"] == true {
        SlackChannelKind::Direct
    } else if channel["is_mpim"] == true {
        SlackChannelKind::Group
    } else {
        SlackChannelKind::Channel
    };
    Room {
        name: name.map(|name| name.chars().take(100).collect()),
        kind,
    }
}
