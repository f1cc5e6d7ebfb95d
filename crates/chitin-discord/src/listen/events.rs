//! One event: what it tells of rooms is remembered, a message goes on, everything else is left alone.

use crate::account::Account;
use crate::compat::message;
use crate::standing::Me;
use crate::wire::{Channel, Envelope, Guild, Message, Ready, readable};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::atomic::Ordering;

/// What came of an event.
pub(super) enum Heard {
    /// Events come now.
    Connected,
    /// A message that is to be handed in.
    Message(Box<Message>),
    /// Nothing that concerns anybody else.
    Nothing,
}

/// Reads an event.
pub(super) fn read(account: &Account, text: &str) -> Heard {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        unreadable(account);
        return Heard::Nothing;
    };
    if envelope.op != Some(0) {
        return Heard::Nothing;
    }
    let data = envelope.d;
    match envelope.t.as_deref().unwrap_or_default() {
        "READY" => {
            if let Some(ready) = data_of::<Ready>(account, data) {
                account.standing.know(Me::from(&ready.user));
            }
            Heard::Connected
        }
        "RESUMED" => Heard::Connected,
        "MESSAGE_CREATE" => match data_of::<Message>(account, data) {
            Some(message) if is_for_people(account, &message) => Heard::Message(Box::new(message)),
            Some(_) | None => Heard::Nothing,
        },
        "GUILD_CREATE" | "GUILD_UPDATE" => {
            let me = account.standing.me().map(|me| me.id);
            if let Some(guild) = data_of::<Guild>(account, data) {
                account.rooms.guild(guild, me);
            }
            Heard::Nothing
        }
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
            if let Some(channel) = data_of::<Channel>(account, data) {
                account.rooms.channel(channel);
            }
            Heard::Nothing
        }
        "CHANNEL_DELETE" | "THREAD_DELETE" => {
            if let Some(channel) = data_of::<Channel>(account, data) {
                account.rooms.gone(channel.id);
            }
            Heard::Nothing
        }
        "THREAD_LIST_SYNC" => {
            if let Some(sync) = data_of::<Value>(account, data) {
                let guild = serde_json::from_value(sync["guild_id"].clone()).ok();
                for mut thread in readable::<Channel>(sync["threads"].clone()) {
                    thread.guild_id = thread.guild_id.or(guild);
                    account.rooms.channel(thread);
                }
            }
            Heard::Nothing
        }
        _ => Heard::Nothing,
    }
}

/// Tells whether a message is something that was said, by somebody else, and not heard before.
fn is_for_people(account: &Account, heard: &Message) -> bool {
    let own = account
        .standing
        .me()
        .is_some_and(|me| me.id == heard.author.id);
    let said = matches!(heard.kind, message::USUAL | message::REPLY);
    said && !own && account.seen.is_new(heard.id)
}

fn data_of<T: DeserializeOwned>(account: &Account, data: Option<&RawValue>) -> Option<T> {
    let read = data.and_then(|data| serde_json::from_str(data.get()).ok());
    if read.is_none() {
        unreadable(account);
    }
    read
}

/// Counts an event that cannot be read. It is said rarely: whoever sends such events must not fill the log.
pub(super) fn unreadable(account: &Account) {
    let count = account.unreadable.fetch_add(1, Ordering::Relaxed) + 1;
    if count.is_power_of_two() {
        account.tell(&format!(
            "an event cannot be read and is left out; there were {count} such events so far"
        ));
    }
}
