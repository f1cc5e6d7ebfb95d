//! What is heard, without a network: events in, what is known of rooms grows, and messages come out as the gateway hears them.

mod duplicates;
mod events;
mod files;
mod message;

pub(crate) use events::{EventOutcome, read};
pub(crate) use files::{files, hanging};
pub(crate) use message::{MessageSurface, noticed};

use crate::account_state::AccountState;
use crate::rooms::Rooms;
use chitin_gateway::Noticed;
use duplicates::RecentMessages;

/// What an account heard so far: who it is, which rooms there are, which messages came. It asks nobody.
#[derive(Debug, Default)]
pub struct Ears {
    pub(crate) standing: AccountState,
    pub(crate) rooms: Rooms,
    seen: RecentMessages,
}

impl Ears {
    /// Hears an event of Discord's gateway, and returns what the gateway of agents is to notice of it: a message that somebody else wrote and
    /// that was not heard before. Of its place no more is known than earlier events told.
    pub fn hear(&self, event: &str) -> Option<Noticed> {
        let EventOutcome::Message(message) = read(self, event).heard else {
            return None;
        };
        let room = self.rooms.get(message.channel_id);
        let above = room
            .as_ref()
            .and_then(|room| MessageSurface::parent_of(&message, room))
            .and_then(|parent| self.rooms.get(parent));
        noticed(self, None, &message, MessageSurface { room, above })
    }
}
