//! What a surface is: a chat network, a terminal, a page, a directory. Each says what it can do, and does it.

mod address;
pub mod directory;
mod network;

pub use address::Address;
pub use network::{
    Account, Connection, Lack, Network, Probed, Webhook, WebhookAnswer, WebhookCall,
};

use crate::route::Peer;
use chitin_protocol::message::ImageBlock;
use chitin_text::TextFormat;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where people and agents meet. Implementors send what they are given as it is (it is cut to their limits before), answer
/// within reasonable time or fail, and take the same [`OutgoingMessage::key`] twice as one message where the network lets them.
pub trait Surface: Send + Sync {
    /// Returns the name that configuration and session keys know it by.
    fn id(&self) -> &str;

    /// Says what it can do.
    fn capabilities(&self) -> &SurfaceCapabilities;

    /// Sends a message; into a thread when the address names one.
    fn send<'a>(
        &'a self,
        to: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>>;

    /// Does something else that it declares: edit, react, read, create a thread, and what only this network knows.
    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        let _ = to;
        Box::pin(async move { Err(SurfaceError::unsupported(action.name())) })
    }
}

/// What a surface can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceCapabilities {
    /// How it wants text.
    pub format: TextFormat,
    /// The longest message, in UTF-16 units.
    pub max_chars: usize,
    /// The most lines of a message; none means any number.
    pub max_lines: Option<usize>,
    /// The actions that a model may ask for, as the `message` tool names them; `send` is always there.
    pub actions: Vec<String>,
    /// Whether it shows that somebody types.
    pub typing: bool,
    /// Whether a thread is a channel of its own, as on Discord.
    pub threads: Threads,
    /// The least time between two changes of one message, in milliseconds; none when a message cannot be changed.
    pub edit_every_ms: Option<u64>,
    /// What files may go with a message; none when none may.
    pub files: Option<FileLimits>,
}

/// What files may go with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// How many.
    pub count: usize,
    /// The largest, in bytes.
    pub bytes: usize,
}

/// A file that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingFile {
    /// What it is called, without any directory.
    pub name: String,
    /// Its MIME type.
    pub mime: String,
    /// What is in it.
    pub bytes: Arc<[u8]>,
}

/// What threads are on a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threads {
    /// There are none.
    #[default]
    None,
    /// A part of a channel.
    Inside,
    /// Channels of their own, with another id.
    Channels,
    /// The replies to a message, under the id of that message, as on Slack.
    Replies,
}

/// A message on its way out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OutgoingMessage {
    /// Its name: the same message sent twice has the same one.
    pub key: String,
    /// What is sent, in the surface's own format.
    pub text: String,
    /// The same without any format.
    pub plain: String,
    /// Pictures that go with it.
    pub images: Vec<ImageBlock>,
    /// Files that go with it.
    pub files: Vec<OutgoingFile>,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// Whether nobody is to be woken by it.
    pub silent: bool,
}

/// A message that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The surface's name for it.
    pub message_id: String,
}

/// Something that a surface can do besides sending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "action",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum SurfaceAction {
    /// Changes a message of ours.
    Edit {
        /// The message.
        message_id: String,
        /// What it says from now on.
        text: String,
    },
    /// Puts a sign under a message, or takes it away.
    React {
        /// The message.
        message_id: String,
        /// The sign.
        emoji: String,
        /// Whether it is taken away.
        #[serde(default)]
        remove: bool,
    },
    /// Begins a thread.
    ThreadCreate {
        /// What it is called.
        name: String,
        /// The message that it hangs under.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        /// After how many minutes of silence it is put away.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auto_archive_min: Option<u32>,
    },
    /// Reads what was said, the newest last.
    Read {
        /// How much at most.
        limit: u32,
        /// Only what came before this message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
    },
    /// Fetches a file that hangs on a message.
    Download {
        /// The message.
        message_id: String,
        /// Which of its files, by name or number; none is the only one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// Shows that somebody types.
    Typing,
    /// Something that only this network knows.
    Other {
        /// What, as the `message` tool names it.
        name: String,
        /// With what.
        fields: BTreeMap<String, Value>,
    },
}

impl SurfaceAction {
    /// Returns the name that the `message` tool knows it by.
    pub fn name(&self) -> &str {
        match self {
            Self::Edit { .. } => "edit",
            Self::React { .. } => "react",
            Self::ThreadCreate { .. } => "thread-create",
            Self::Read { .. } => "read",
            Self::Download { .. } => "download-file",
            Self::Typing => "typing",
            Self::Other { name, .. } => name,
        }
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "done",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum SurfaceOutcome {
    /// It is done.
    Done,
    /// There is a thread.
    Thread {
        /// Its place.
        address: Address,
    },
    /// What was said, the newest last.
    Said {
        /// The messages.
        messages: Vec<PastMessage>,
    },
    /// A file that hung on a message.
    #[serde(skip)]
    File {
        /// The file.
        file: OutgoingFile,
    },
    /// What only this network gives back.
    Other {
        /// What.
        value: Value,
    },
}

/// A message of the past.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PastMessage {
    /// The surface's name for it.
    pub message_id: String,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// Whether it is our own.
    #[serde(default)]
    pub own: bool,
    /// What it says.
    pub text: String,
    /// When, as an ISO instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Why a surface could not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SurfaceError {
    /// What happened, as a sentence.
    pub message: String,
    /// Whether it may work later.
    pub again: Again,
}

/// Whether something that failed may work later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// It will not.
    Never,
    /// It may at once.
    Soon,
    /// It may after so many milliseconds.
    After(u64),
}

impl SurfaceError {
    /// Something that will not work later either.
    pub fn never(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            again: Again::Never,
        }
    }

    /// Something that may work later.
    pub fn soon(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            again: Again::Soon,
        }
    }

    /// Something that the surface does not know.
    pub fn unsupported(action: &str) -> Self {
        Self::never(format!("This surface knows no `{action}`."))
    }
}

/// The surfaces of a gateway, by name.
#[derive(Clone, Default)]
pub struct Surfaces(BTreeMap<String, Arc<dyn Surface>>);

impl Surfaces {
    /// Adds a surface; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, surface: Arc<dyn Surface>) -> Self {
        self.0.insert(surface.id().to_owned(), surface);
        self
    }

    /// Finds a surface by its name.
    pub fn get(&self, id: &str) -> Option<&Arc<dyn Surface>> {
        self.0.get(id)
    }

    /// Returns all of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Surface>> {
        self.0.values()
    }
}

impl std::fmt::Debug for Surfaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Makes the address of a person, group or channel.
pub fn place(channel: &str, peer: Peer) -> Address {
    Address {
        channel: channel.to_owned(),
        account_id: None,
        peer,
        thread_id: None,
    }
}
