//! One event: what it tells of rooms is remembered, a message goes on, everything else is left alone.

use super::Ears;
use crate::account_state::Me;
use crate::compat::message;
use crate::wire::{Channel, Envelope, Guild, Message, Ready, readable};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

/// What came of an event.
pub(crate) enum EventOutcome {
    /// Events come now.
    Connected,
    /// A message that is to be handed in.
    Message(Box<Message>),
    /// Nothing that concerns anybody else.
    Nothing,
}

/// An event that was read.
pub(crate) struct Read {
    pub(crate) heard: EventOutcome,
    /// Whether it could not be read, or a part of it that matters.
    pub(crate) odd: bool,
}

/// Reads an event.
pub(crate) fn read(ears: &Ears, text: &str) -> Read {
    let mut odd = false;
    let heard = heard(ears, text, &mut odd);
    Read { heard, odd }
}

fn heard(ears: &Ears, text: &str, odd: &mut bool) -> EventOutcome {
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text) else {
        *odd = true;
        return EventOutcome::Nothing;
    };
    if envelope.op != Some(0) {
        return EventOutcome::Nothing;
    }
    let data = envelope.d;
    match envelope.t.as_deref().unwrap_or_default() {
        "READY" => {
            if let Some(ready) = data_of::<Ready>(data, odd) {
                ears.standing.know(Me::from(&ready.user));
            }
            EventOutcome::Connected
        }
        "RESUMED" => EventOutcome::Connected,
        "MESSAGE_CREATE" => match data_of::<Message>(data, odd) {
            Some(message) if is_for_people(ears, &message) => {
                EventOutcome::Message(Box::new(message))
            }
            Some(_) | None => EventOutcome::Nothing,
        },
        "GUILD_CREATE" | "GUILD_UPDATE" => {
            let me = ears.standing.me().map(|me| me.id);
            if let Some(guild) = data_of::<Guild>(data, odd) {
                ears.rooms.guild(guild, me);
            }
            EventOutcome::Nothing
        }
        "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
            if let Some(channel) = data_of::<Channel>(data, odd) {
                ears.rooms.channel(channel);
            }
            EventOutcome::Nothing
        }
        "CHANNEL_DELETE" | "THREAD_DELETE" => {
            if let Some(channel) = data_of::<Channel>(data, odd) {
                ears.rooms.gone(channel.id);
            }
            EventOutcome::Nothing
        }
        "THREAD_LIST_SYNC" => {
            if let Some(sync) = data_of::<Value>(data, odd) {
                let guild = serde_json::from_value(sync["guild_id"].clone()).ok();
                for mut thread in readable::<Channel>(sync["threads"].clone()) {
                    thread.guild_id = thread.guild_id.or(guild);
                    ears.rooms.channel(thread);
                }
            }
            EventOutcome::Nothing
        }
        _ => EventOutcome::Nothing,
    }
}

/// Tells whether a message is something that was said, by somebody else, and not heard before.
fn is_for_people(ears: &Ears, heard: &Message) -> bool {
    let own = ears
        .standing
        .me()
        .is_some_and(|me| me.id == heard.author.id);
    let said = matches!(heard.kind, message::USUAL | message::REPLY);
    said && !own && ears.seen.is_new(heard.id)
}

fn data_of<T: DeserializeOwned>(data: Option<&RawValue>, odd: &mut bool) -> Option<T> {
    let read = data.and_then(|data| serde_json::from_str(data.get()).ok());
    if read.is_none() {
        *odd = true;
    }
    read
}
