//! What is heard, without a network: events in, what is known of rooms grows, and messages come out as the gateway hears them.

mod events;
mod files;
mod noticed;
mod seen;

pub(crate) use events::{Heard, read};
pub(crate) use files::{files, hanging};
pub(crate) use noticed::{Place, noticed};

use crate::rooms::Rooms;
use crate::standing::Standing;
use chitin_gateway::Noticed;
use seen::Seen;

/// What an account heard so far: who it is, which rooms there are, which messages came. It asks nobody.
#[derive(Debug, Default)]
pub struct Ears {
    pub(crate) standing: Standing,
    pub(crate) rooms: Rooms,
    seen: Seen,
}

impl Ears {
    /// Hears an event of Discord's gateway, and returns what the gateway of agents is to notice of it: a message that somebody else wrote and
    /// that was not heard before. Of its place no more is known than earlier events told.
    pub fn hear(&self, event: &str) -> Option<Noticed> {
        let Heard::Message(message) = read(self, event).heard else {
            return None;
        };
        let room = self.rooms.get(message.channel_id);
        let above = room
            .as_ref()
            .and_then(|room| Place::parent_of(&message, room))
            .and_then(|parent| self.rooms.get(parent));
        noticed(self, None, &message, Place { room, above })
    }
}
