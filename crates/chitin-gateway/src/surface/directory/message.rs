//! A message that somebody puts into a directory.

use crate::intake::{IncomingMessage, ReplyDelivery};
use crate::queue::QueueWish;
use crate::route::{Inbound, Peer};
use chitin_protocol::message::ImageBlock;
use chitin_protocol::session_key::ChatType;
use serde::{Deserialize, Serialize};

/// The largest file that is taken for a message, in bytes.
pub const MOST_BYTES: u64 = 16 << 20;
/// The longest id of a message, place or thread.
const MOST_ID: usize = 256;

/// A message as its file says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageFile {
    /// Its name; that of the file when it is left out. The same name twice is one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it says.
    #[serde(default)]
    pub text: String,
    /// Where it is said: a person, group or channel; a conversation with the owner when it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// The thread that it is said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Who says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<FileSender>,
    /// Whether that is the owner of the agent.
    #[serde(default)]
    pub owner: bool,
    /// The account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The agent, when bindings shall not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session, when the place shall not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Pictures that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageBlock>,
}

/// Who says something: an id, or an id and a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FileSender {
    /// An id.
    Id(String),
    /// An id and a name.
    Named {
        /// The id.
        id: String,
        /// The name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}

impl MessageFile {
    /// Reads the bytes of a file; `name` stands for the id if there is none in it.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with it.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, String> {
        let mut note: Self = serde_json::from_slice(bytes)
            .map_err(|error| format!("This is not a valid message: {error}."))?;
        let id = note.id.get_or_insert_with(|| name.to_owned());
        plain("id", id)?;
        plain("peer", &note.peer().id)?;
        if let Some(thread) = &note.thread {
            plain("thread", thread)?;
        }
        if note.text.trim().is_empty() && note.images.is_empty() {
            return Err("The message is empty: `text` is blank.".to_owned());
        }
        Ok(note)
    }

    /// Returns where it is said.
    pub fn peer(&self) -> Peer {
        self.peer.clone().unwrap_or_else(|| Peer {
            kind: ChatType::Direct,
            id: self.who().0.unwrap_or_else(|| "owner".to_owned()),
        })
    }

    /// Returns id and name of whoever says it.
    pub fn who(&self) -> (Option<String>, Option<String>) {
        match &self.sender {
            None => (None, None),
            Some(FileSender::Id(id)) => (Some(id.clone()), None),
            Some(FileSender::Named { id, name }) => (Some(id.clone()), name.clone()),
        }
    }

    /// Makes what the gateway takes in.
    pub fn incoming(self, channel: &str) -> IncomingMessage {
        let (sender_id, sender_name) = self.who();
        IncomingMessage {
            inbound: Inbound {
                channel: channel.to_owned(),
                account_id: self.account.clone(),
                peer: Some(self.peer()),
                thread_id: self.thread.clone(),
                sender_id,
                ..Inbound::default()
            },
            via: None,
            text: self.text,
            images: self.images,
            message_id: self.id,
            sender_name,
            is_owner: self.owner,
            agent: self.agent,
            session: self.session,
            model: None,
            queue: QueueWish::default(),
            answer: ReplyDelivery::ToPlace,
            job_id: None,
            retry_ms: None,
        }
    }
}

/// Refuses ids that are blank, too long or hold what cannot be written on one line.
fn plain(what: &str, id: &str) -> Result<(), String> {
    if id.trim().is_empty() {
        return Err(format!("`{what}` is blank."));
    }
    if id.len() > MOST_ID {
        return Err(format!("`{what}` is longer than {MOST_ID} bytes."));
    }
    if id.chars().any(char::is_control) {
        return Err(format!("`{what}` holds control characters."));
    }
    Ok(())
}
