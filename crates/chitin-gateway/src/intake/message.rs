//! A message as a surface hands it in.

use crate::queue::QueueWish;
use crate::route::Inbound;
use chitin_protocol::message::ImageBlock;

/// The longest text that is taken in, in bytes.
pub const MOST_TEXT: usize = 1 << 20;
/// The most pictures that are taken in with one message.
pub const MOST_IMAGES: usize = 16;

/// A message as a surface hands it in.
#[derive(Debug, Clone, Default)]
pub struct IncomingMessage {
    /// Where it comes from.
    pub inbound: Inbound,
    /// The channel that it really came over, where its sender may name another as its place. Access is judged by this one.
    pub via: Option<String>,
    /// What it says.
    pub text: String,
    /// Pictures that go with it.
    pub images: Vec<ImageBlock>,
    /// The surface's name for it. The same message handed in twice is taken once.
    pub message_id: Option<String>,
    /// How its sender is called.
    pub sender_name: Option<String>,
    /// Whether its sender owns the agent.
    pub is_owner: bool,
    /// The agent, when the sender picks one; otherwise bindings say.
    pub agent: Option<String>,
    /// The session, when the sender picks one; otherwise the place says.
    pub session: Option<String>,
    /// The model, when the sender picks one.
    pub model: Option<String>,
    /// How it wants to wait.
    pub queue: QueueWish,
    /// Whether the words of the turn go back to the place that it came from. A sender who listens to events needs none.
    pub answer: ReplyDelivery,
    /// The name of the turn, when the sender wants to know it beforehand.
    pub job_id: Option<String>,
    /// How long it is tried again in outages, in milliseconds, when the sender says so; 0 is not at all.
    pub retry_ms: Option<u64>,
}

/// A message as a network hears it. Whether it is taken in is decided by [`crate::Gateway::notice`].
#[derive(Debug, Clone, Default)]
pub struct Noticed {
    /// The message. Whether its sender owns the agent is found out; what it says of that does not count.
    pub incoming: IncomingMessage,
    /// Whether it is addressed to us: by name, or as a reply to what we said. What is said to us alone always is.
    pub addressed: Addressed,
    /// Whether a program wrote it.
    pub from_program: bool,
    /// Other ways in which a list may name its sender, such as `ada#1815` or `ada@yard.example`.
    pub sender_names: Vec<String>,
    /// What the room is called, such as `#berths`.
    pub room_name: Option<String>,
    /// Names of the room that a configuration may use besides its id, such as `berths`.
    pub room_names: Vec<String>,
    /// What the guild or team is called.
    pub guild_names: Vec<String>,
    /// Files that hang on it and are no pictures.
    pub files: Vec<Hanging>,
}

/// Whether a message is addressed to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Addressed {
    /// It is not.
    #[default]
    No,
    /// We are named in it.
    Named,
    /// It replies to us, or stands in a thread that we began.
    Replied,
}

/// A file that hangs on a message: what is told of it. `message` with `download-file` fetches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hanging {
    /// What it is called.
    pub name: String,
    /// Its MIME type, as the network says it.
    pub mime: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// What is in it, when it is a short text that was fetched.
    pub text: Option<String>,
}

/// What became of a message that a network heard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReceiveOutcome {
    /// It was taken in.
    Taken(crate::intake::Accepted),
    /// It was not for us. What was said is told with the next message there that is.
    Overheard,
    /// Its sender is not known. The owner is asked, and the sender was told so once.
    Unknown,
    /// It is not for us, and nothing of it is kept.
    Ignored(String),
}

/// Whether the words of a turn go back to the place that its message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyDelivery {
    /// They do.
    #[default]
    ToPlace,
    /// They do not; whoever asked listens to the events.
    Nowhere,
}
