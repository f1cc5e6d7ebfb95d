//! What Discord sends, as far as it is needed. Read kindly: what is not known is left alone, and a part of a list that cannot be read
//! does not take the rest with it.

use crate::compat::channel;
use crate::ids::Id;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A person or a program.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct User {
    pub(crate) id: Id,
    pub(crate) username: String,
    #[serde(default)]
    pub(crate) global_name: Option<String>,
    #[serde(default)]
    pub(crate) discriminator: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) bot: bool,
}

impl User {
    /// Returns the name that people see.
    pub(crate) fn shown(&self) -> &str {
        self.global_name.as_deref().unwrap_or(&self.username)
    }

    /// Returns the old name with its number, where there is one.
    pub(crate) fn tag(&self) -> Option<String> {
        let number = self.discriminator.as_deref()?;
        (number != "0" && number != "0000").then(|| format!("{}#{number}", self.username))
    }
}

/// Somebody as a member of a guild.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Member {
    #[serde(default)]
    pub(crate) nick: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) roles: Vec<Id>,
}

/// A file that hangs on a message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Attachment {
    pub(crate) filename: String,
    #[serde(default)]
    pub(crate) content_type: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) size: u64,
    pub(crate) url: String,
}

/// A card under a message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Embed {
    #[serde(default)]
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) url: Option<String>,
}

/// A sticker.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sticker {
    pub(crate) name: String,
}

/// A message that was passed on.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) message: Passed,
}

/// What was passed on.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Passed {
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) content: String,
    #[serde(default, deserialize_with = "list")]
    pub(crate) attachments: Vec<Attachment>,
}

/// A sign under a message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Reaction {
    pub(crate) count: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) me: bool,
    pub(crate) emoji: Emoji,
}

/// A sign.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Emoji {
    #[serde(default)]
    pub(crate) id: Option<Id>,
    #[serde(default)]
    pub(crate) name: Option<String>,
}

/// A message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Message {
    pub(crate) id: Id,
    pub(crate) channel_id: Id,
    #[serde(default)]
    pub(crate) guild_id: Option<Id>,
    pub(crate) author: User,
    #[serde(default)]
    pub(crate) member: Option<Member>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) timestamp: Option<String>,
    #[serde(rename = "type", default, deserialize_with = "or_default")]
    pub(crate) kind: u16,
    #[serde(default, deserialize_with = "list")]
    pub(crate) mentions: Vec<User>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) mention_roles: Vec<Id>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) attachments: Vec<Attachment>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) embeds: Vec<Embed>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) sticker_items: Vec<Sticker>,
    #[serde(rename = "message_snapshots", default, deserialize_with = "list")]
    pub(crate) passed_on: Vec<Snapshot>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) reactions: Vec<Reaction>,
    #[serde(default)]
    pub(crate) webhook_id: Option<Id>,
    #[serde(rename = "referenced_message", default)]
    pub(crate) replies_to: Option<Box<Message>>,
}

/// A channel, thread or conversation.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: Id,
    #[serde(rename = "type")]
    pub(crate) kind: u16,
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default)]
    pub(crate) guild_id: Option<Id>,
    #[serde(default)]
    pub(crate) parent_id: Option<Id>,
    #[serde(default)]
    pub(crate) owner_id: Option<Id>,
    #[serde(default)]
    pub(crate) topic: Option<String>,
}

impl Channel {
    pub(crate) fn is_thread(&self) -> bool {
        matches!(
            self.kind,
            channel::NEWS_THREAD | channel::PUBLIC_THREAD | channel::PRIVATE_THREAD
        )
    }

    pub(crate) fn is_forum(&self) -> bool {
        matches!(self.kind, channel::FORUM | channel::MEDIA)
    }
}

/// A role.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Role {
    pub(crate) id: Id,
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) tags: Option<RoleTags>,
}

/// Whose role it is.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RoleTags {
    #[serde(default)]
    pub(crate) bot_id: Option<Id>,
}

/// A guild.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Guild {
    pub(crate) id: Id,
    #[serde(default)]
    pub(crate) name: Option<String>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) channels: Vec<Channel>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) threads: Vec<Channel>,
    #[serde(default, deserialize_with = "list")]
    pub(crate) roles: Vec<Role>,
}

impl Guild {
    /// A guild of which nothing is known.
    pub(crate) fn bare(id: Id) -> Self {
        Self {
            id,
            name: None,
            channels: Vec::new(),
            threads: Vec::new(),
            roles: Vec::new(),
        }
    }
}

/// What the gateway says first.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Ready {
    pub(crate) user: User,
}

/// An event as it comes.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(default)]
    pub(crate) op: Option<u8>,
    #[serde(default)]
    pub(crate) t: Option<String>,
    #[serde(default, borrow)]
    pub(crate) d: Option<&'a serde_json::value::RawValue>,
}

/// Reads what may be null.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads a list; what cannot be read is left out.
fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(readable(Value::deserialize(deserializer)?))
}

/// Returns those of a list that can be read; none when it is no list.
pub(crate) fn readable<T: DeserializeOwned>(value: Value) -> Vec<T> {
    match value {
        Value::Array(items) => items
            .into_iter()
            .filter_map(|item| serde_json::from_value(item).ok())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Vec::new()
        }
    }
}
