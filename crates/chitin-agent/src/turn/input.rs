//! The input of a turn, and the message that it becomes.

use super::{Steer, Steering};
use crate::compat;
use crate::guard::{MessageOrigin, SenderRole};
use crate::origins;
use crate::source::Occasion;
use chitin_protocol::message::{Block, Content, Extra, ImageBlock, Message, UserMessage};
use chitin_protocol::origin::{Origin, add_origins};
use chitin_tools::Approver;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The input of a turn.
#[derive(Debug, Clone, Default)]
pub struct TurnInput {
    /// The session.
    pub session_key: String,
    /// The message.
    pub words: String,
    /// Images that belong to it.
    pub images: Vec<ImageBlock>,
    /// Whether the session is reset first.
    pub new_session: bool,
    /// The caller's key for the turn. Asked for again under the same key, as after a crash, the turn continues where the
    /// transcript ends; a finished one does not run again.
    pub key: Option<String>,
    /// The origin of the message, if no person sent it.
    pub provenance: Option<Value>,
    /// What starts the turn.
    pub occasion: Occasion,
    /// Takes messages that arrive during the turn.
    pub steering: Option<Steering>,
    /// Who keeps the message safe until the turn is over.
    pub durability: Durability,
    /// Who sent the message, for the rules of the workspace. By default the owner did.
    pub origin: MessageOrigin,
    /// Where texts in the message come from that are not the owner's. Pictures and guests' messages count by themselves.
    pub origins: Vec<Origin>,
    /// Who is asked for permission in this turn. By default whoever decides for the agent.
    pub approver: Option<TurnApprover>,
    /// What becomes of a failure that may pass.
    pub outage: OnOutage,
    /// Says that the turn goes on in another process: it stops before its next request to the model, with [`TurnError::Elsewhere`], and
    /// is asked for there under its key.
    ///
    /// [`TurnError::Elsewhere`]: crate::turn::TurnError::Elsewhere
    pub leaves: Option<CancellationToken>,
}

/// Who is asked for permission in one turn.
#[derive(Clone)]
pub struct TurnApprover(pub Arc<dyn Approver>);

impl std::fmt::Debug for TurnApprover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnApprover").finish_non_exhaustive()
    }
}

/// What becomes of a failure that may pass: of the machine, or of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnOutage {
    /// It ends the turn, and the transcript says so.
    #[default]
    Recorded,
    /// The caller asks again under the turn's key: nothing of the failure is recorded, nor of a reply that was cut off.
    AskedAgain,
}

/// Who keeps the message safe until the turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The transcript alone: the message is on disk before any part of the reply is reported.
    #[default]
    Transcript,
    /// The caller, under the turn's key: the message reaches the disk with the reply at the latest.
    Caller,
}

impl TurnInput {
    /// Makes the message, with its text as it is sent.
    pub(super) fn message(&self, words: String, now_ms: i64) -> Message {
        let steer = Steer {
            words,
            images: self.images.clone(),
            key: self.key.clone(),
            provenance: self.provenance.clone(),
            written: None,
            origins: self.origins.clone(),
        };
        message_of(steer, &self.origin, now_ms)
    }
}

/// Makes a message.
pub(super) fn message_of(steer: Steer, sender: &MessageOrigin, now_ms: i64) -> Message {
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
    let mut untrusted = steer.origins;
    add_origins(&mut untrusted, &origins::of_pictures(content.blocks()));
    match sender.role {
        SenderRole::Guest if !untrusted.iter().any(Origin::is_of_guests) => {
            let sender = sender.sender.as_deref().unwrap_or("a guest");
            untrusted.push(Origin::guest(sender));
        }
        SenderRole::Owner | SenderRole::Guest => {}
    }
    if !untrusted.is_empty() {
        origins::store(&mut extra, &untrusted);
    }
    Message::User(UserMessage {
        content,
        timestamp: Some(now_ms),
        extra,
    })
}
