//! One account: its token, what it knows, how it stands.

use crate::discord::Note;
use crate::fetch::Files;
use crate::ids::Id;
use crate::rest::{Fault, Rest};
use crate::rooms::Rooms;
use crate::settings::AccountSettings;
use crate::standing::{Me, Standing};
use crate::wire::{Channel, Guild, User};
use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};

/// How many messages are remembered, so that none is heard twice.
const MOST_SEEN: usize = 8_192;

/// One account.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) settings: AccountSettings,
    pub(crate) rest: Rest,
    pub(crate) files: Files,
    pub(crate) rooms: Rooms,
    pub(crate) standing: Standing,
    pub(crate) note: Note,
    pub(crate) seen: Seen,
    /// How many events could not be read.
    pub(crate) unreadable: AtomicU64,
    /// Whether it was said that messages come without their words.
    pub(crate) told_of_no_content: AtomicBool,
}

impl Account {
    /// Tells people something about this account.
    pub(crate) fn tell(&self, what: &str) {
        (self.note)(&format!("discord `{}`: {what}", self.id));
    }

    /// Returns who we are, asking for it when it is not known yet.
    pub(crate) async fn me(&self) -> Result<Me, Fault> {
        if let Some(me) = self.standing.me() {
            return Ok(me);
        }
        let user = self.rest.get("users/@me").await?;
        let user: User = serde_json::from_value(user).map_err(|_| Fault::unreadable())?;
        let me = Me::from(&user);
        self.standing.know(me.clone());
        Ok(me)
    }

    /// Returns what is known of a channel, asking for it when nothing is.
    pub(crate) async fn room(&self, id: Id) -> Result<Channel, Fault> {
        if let Some(room) = self.rooms.get(id) {
            return Ok(room);
        }
        let room = self.rest.get(&format!("channels/{id}")).await?;
        let room: Channel = serde_json::from_value(room).map_err(|_| Fault::unreadable())?;
        self.rooms.channel(room.clone());
        Ok(room)
    }
}

impl Account {
    /// Sees to it that the names of a guild are known, as far as Discord tells them.
    pub(crate) async fn know_guild(&self, id: Id) {
        if self.rooms.knows_guild(id) {
            return;
        }
        let me = self.standing.me().map(|me| me.id);
        let guild = match self.rest.get(&format!("guilds/{id}")).await {
            Ok(guild) => serde_json::from_value(guild).unwrap_or(Guild::bare(id)),
            // It will not tell later either.
            Err(fault) if fault.is(403) || fault.is(404) => Guild::bare(id),
            Err(_) => return,
        };
        self.rooms.guild(guild, me);
    }
}

/// The messages that were heard lately.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<(HashSet<Id>, VecDeque<Id>)>);

impl Seen {
    /// Remembers a message; tells whether it is new.
    pub(crate) fn is_new(&self, id: Id) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, order) = &mut *seen;
        if !known.insert(id) {
            return false;
        }
        order.push_back(id);
        if order.len() > MOST_SEEN
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
        true
    }
}
