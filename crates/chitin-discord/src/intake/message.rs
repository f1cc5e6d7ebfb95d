//! One message: where it was written, by whom, whether it is meant for us, and what hangs on it.

use super::{Ears, files};
use crate::compat::{ID, channel};
use crate::ids::Id;
use crate::text;
use crate::wire::{Channel, Message};
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::{Addressed, IncomingMessage, Noticed};
use chitin_protocol::session_key::ChatType;

/// What is known of the place of a message.
#[derive(Debug, Default)]
pub(crate) struct MessageSurface {
    pub(crate) room: Option<Channel>,
    /// The channel of a thread.
    pub(crate) above: Option<Channel>,
}

impl MessageSurface {
    /// Returns the channel that has to be known too: that of a thread.
    pub(crate) fn parent_of(message: &Message, room: &Channel) -> Option<Id> {
        let is_thread = message.guild_id.is_some() && room.is_thread();
        room.parent_id.filter(|_| is_thread)
    }
}

/// Where a message was written.
struct Written {
    peer: Peer,
    parent: Option<Id>,
    thread: Option<Id>,
    room_name: Option<String>,
    /// Names that a configuration may use. A thread is known by its channel's: anybody may call a thread anything.
    room_names: Vec<String>,
    /// Whether it is in a thread that we began.
    ours: bool,
}

/// Makes of a message what the gateway hears, with the names of its files; nothing when there is nothing in it.
pub(crate) fn noticed(
    ears: &Ears,
    account_id: Option<String>,
    message: &Message,
    place: MessageSurface,
) -> Option<Noticed> {
    let me = ears.standing.me();
    let me_id = me.as_ref().map(|me| me.id);
    ears.rooms.spoke(message.channel_id, message.author.id);
    let written = written(ears, message, me_id, place);
    let named = message.mentions.iter().any(|user| Some(user.id) == me_id)
        || ears
            .rooms
            .is_own_role(message.guild_id, &message.mention_roles);
    let replied = message.replies_to.as_ref();
    let replied = replied.is_some_and(|replied| Some(replied.author.id) == me_id);
    let addressed = match (named, replied || written.ours) {
        (true, _) => Addressed::Named,
        (false, true) => Addressed::Replied,
        (false, false) => Addressed::No,
    };
    let mut text = text::said(message, &ears.rooms, me_id);
    let files = files::named(message);
    if text.is_empty() && files.is_empty() {
        if named {
            // Our name alone is a knock at the door.
            text = me.map_or_else(|| "@".to_owned(), |me| format!("@{}", me.name));
        } else {
            return None;
        }
    }
    let author = &message.author;
    let nick = message
        .member
        .as_ref()
        .and_then(|member| member.nick.clone());
    let mut sender_names = vec![author.username.clone()];
    sender_names.extend(author.tag());
    Some(Noticed {
        incoming: IncomingMessage {
            inbound: Inbound {
                channel: ID.to_owned(),
                account_id,
                peer: Some(written.peer),
                parent_peer: written.parent.map(|parent| Peer {
                    kind: ChatType::Channel,
                    id: parent.to_string(),
                }),
                guild_id: message.guild_id.map(|guild| guild.to_string()),
                member_role_ids: message
                    .member
                    .iter()
                    .flat_map(|member| &member.roles)
                    .map(ToString::to_string)
                    .collect(),
                thread_id: written.thread.map(|thread| thread.to_string()),
                sender_id: Some(author.id.to_string()),
                ..Inbound::default()
            },
            text,
            message_id: Some(message.id.to_string()),
            sender_name: Some(nick.unwrap_or_else(|| author.shown().to_owned())),
            ..IncomingMessage::default()
        },
        addressed,
        from_program: author.bot || message.webhook_id.is_some(),
        sender_names,
        room_name: written.room_name,
        room_names: written.room_names,
        guild_names: message
            .guild_id
            .and_then(|guild| ears.rooms.guild_name(guild))
            .into_iter()
            .collect(),
        files,
    })
}

/// Says where a message was written.
fn written(ears: &Ears, message: &Message, me: Option<Id>, place: MessageSurface) -> Written {
    let id = message.channel_id;
    let MessageSurface { room, above } = place;
    if message.guild_id.is_none() {
        let group = room
            .as_ref()
            .is_some_and(|room| room.kind == channel::GROUP);
        if !group {
            ears.rooms.direct(message.author.id, id);
        }
        let (kind, peer) = if group {
            (ChatType::Group, id)
        } else {
            (ChatType::Direct, message.author.id)
        };
        return Written {
            room_name: room.and_then(|room| room.name).filter(|_| group),
            ..Written::plain(kind, peer)
        };
    }
    let Some(room) = room else {
        return Written::plain(ChatType::Channel, id);
    };
    let name = room.name.clone();
    let shown = name.as_deref().map(|name| format!("#{name}"));
    if !room.is_thread() {
        return Written {
            room_name: shown,
            room_names: name.into_iter().collect(),
            ..Written::plain(ChatType::Channel, id)
        };
    }
    let above = above.and_then(|above| above.name);
    Written {
        parent: room.parent_id,
        thread: Some(id),
        room_name: match (&above, &name) {
            (Some(above), Some(name)) => Some(format!("#{above} › {name}")),
            _ => shown,
        },
        room_names: above.into_iter().collect(),
        ours: room.owner_id.is_some() && room.owner_id == me,
        ..Written::plain(ChatType::Channel, id)
    }
}

impl Written {
    fn plain(kind: ChatType, id: Id) -> Self {
        Self {
            peer: Peer {
                kind,
                id: id.to_string(),
            },
            parent: None,
            thread: None,
            room_name: None,
            room_names: Vec::new(),
            ours: false,
        }
    }
}
