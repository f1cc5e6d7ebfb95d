//! One account: its token, what it knows, how it stands.

use crate::account_state::Me;
use crate::discord::DiscordNotes;
use crate::fetch::Files;
use crate::ids::Id;
use crate::intake::Ears;
use crate::rest::{Fault, Rest};
use crate::settings::AccountSettings;
use crate::wire::{Channel, Guild, User};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// One account.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) settings: AccountSettings,
    pub(crate) rest: Rest,
    pub(crate) files: Files,
    pub(crate) ears: Ears,
    pub(crate) note: DiscordNotes,
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
        if let Some(me) = self.ears.standing.me() {
            return Ok(me);
        }
        let user = self.rest.get("users/@me").await?;
        let user: User = serde_json::from_value(user).map_err(|_| Fault::unreadable())?;
        let me = Me::from(&user);
        self.ears.standing.know(me.clone());
        Ok(me)
    }

    /// Returns what is known of a channel, asking for it when nothing is.
    pub(crate) async fn room(&self, id: Id) -> Result<Channel, Fault> {
        if let Some(room) = self.ears.rooms.get(id) {
            return Ok(room);
        }
        let room = self.rest.get(&format!("channels/{id}")).await?;
        let room: Channel = serde_json::from_value(room).map_err(|_| Fault::unreadable())?;
        self.ears.rooms.channel(room.clone());
        Ok(room)
    }
}

impl Account {
    /// Sees to it that the names of a guild are known, as far as Discord tells them.
    pub(crate) async fn know_guild(&self, id: Id) {
        if self.ears.rooms.knows_guild(id) {
            return;
        }
        let me = self.ears.standing.me().map(|me| me.id);
        let guild = match self.rest.get(&format!("guilds/{id}")).await {
            Ok(guild) => serde_json::from_value(guild).unwrap_or(Guild::bare(id)),
            // It will not tell later either.
            Err(fault) if fault.is(403) || fault.is(404) => Guild::bare(id),
            Err(_) => return,
        };
        self.ears.rooms.guild(guild, me);
    }
}
