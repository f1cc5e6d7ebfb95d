//! What a turn is about: somebody's words, and the message that they become.

use super::{Steer, Steering};
use crate::compat;
use crate::guard::MessageOrigin;
use crate::source::Occasion;
use chitin_protocol::message::{Block, Content, Extra, ImageBlock, Message, UserMessage};
use serde_json::Value;

/// What a turn is about.
#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    /// The session.
    pub session_key: String,
    /// Somebody's words.
    pub words: String,
    /// Pictures that go with them.
    pub images: Vec<ImageBlock>,
    /// Whether a new session begins.
    pub afresh: bool,
    /// The turn's name in the eyes of whoever asks for it. Asked for again under the same name, as after a crash, the turn
    /// goes on where the transcript ends, and one that is over is not run again.
    pub key: Option<String>,
    /// Where the words come from, when no person said them.
    pub provenance: Option<Value>,
    /// What starts the turn.
    pub occasion: Occasion,
    /// The way in for words that come while the turn runs.
    pub steering: Option<Steering>,
    /// Who keeps the words until the turn is over.
    pub keeper: Durability,
    /// Who sent the message, for the rules of the workspace. By default the owner did.
    pub origin: MessageOrigin,
}

/// Who keeps somebody's words until the turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The transcript alone: the words are on the disk before anything of the answer is told.
    #[default]
    Transcript,
    /// Whoever asks for the turn, under its name: the words are on the disk together with the answer, at the latest.
    Asker,
}

impl TurnInput {
    /// Makes the message of somebody's words, as they are sent.
    pub(super) fn message(&self, words: String, now_ms: i64) -> Message {
        let steer = Steer {
            words,
            images: self.images.clone(),
            key: self.key.clone(),
            provenance: self.provenance.clone(),
            written: None,
        };
        message_of(steer, now_ms)
    }
}

/// Makes the message of somebody's words.
pub(super) fn message_of(steer: Steer, now_ms: i64) -> Message {
    let content = if steer.images.is_empty() {
        Content::Text(steer.words)
    } else {
        let images = steer.images.into_iter().map(Block::Image);
        Content::Blocks(
            std::iter::once(Block::text(steer.words))
                .chain(images)
                .collect(),
        )
    };
    let mut extra = Extra::new();
    if let Some(key) = steer.key {
        extra.insert(compat::IDEMPOTENCY_KEY.to_owned(), key.into());
    }
    if let Some(provenance) = steer.provenance {
        extra.insert(compat::PROVENANCE.to_owned(), provenance);
    }
    Message::User(UserMessage {
        content,
        timestamp: Some(now_ms),
        extra,
    })
}
