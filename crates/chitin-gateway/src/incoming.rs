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
pub struct Incoming {
    /// Where it comes from.
    pub inbound: Inbound,
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
    pub answer: Answer,
    /// The name of the turn, when the sender wants to know it beforehand.
    pub job_id: Option<String>,
}

/// Whether the words of a turn go back to the place that its message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// They do.
    #[default]
    ToPlace,
    /// They do not; whoever asked listens to the events.
    Nowhere,
}
