//! One message: where it was written, by whom, whether it is meant for us, and what hangs on it.

use super::attached;
use crate::account::Account;
use crate::compat::{ID, channel};
use crate::ids::Id;
use crate::wire::{Channel, Message};
use crate::words;
use chitin_gateway::gateway::Refusal;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::trust::Verdict;
use chitin_gateway::{Addressed, Gateway, Incoming, Noticed};
use chitin_protocol::session_key::ChatType;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long to wait before a message is handed in again.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

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

/// Hands a message in. What may pass is tried again while we run. Tells whether it is done with, one way or the other.
pub(super) async fn hear(
    account: &Account,
    gateway: &Gateway,
    cancel: &CancellationToken,
    message: &Message,
) -> bool {
    let Some(mut noticed) = notice(account, message).await else {
        return true;
    };
    // Nothing is fetched for somebody who is not heard.
    if matches!(gateway.trust().judge(&noticed), Verdict::Heard { .. }) {
        let attached = attached::fetch(account, message).await;
        noticed.incoming.images = attached.images;
        noticed.files = attached.files;
    }
    let mut wait = FIRST_WAIT;
    loop {
        let Err(refusal) = gateway.notice(noticed.clone()).await else {
            return true;
        };
        let place = message.channel_id;
        if !may_pass(&refusal) {
            account.tell(&format!(
                "a message in `{place}` is not taken in: {refusal}"
            ));
            return true;
        }
        if cancel.is_cancelled() {
            account.tell(&format!(
                "a message in `{place}` could not be taken in before the end: {refusal}"
            ));
            return false;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = cancel.cancelled() => {}
        }
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

fn may_pass(refusal: &Refusal) -> bool {
    match refusal {
        Refusal::Closing | Refusal::Full { .. } | Refusal::TooMuch | Refusal::Store(_) => true,
        Refusal::Empty
        | Refusal::TooLarge(_)
        | Refusal::UnknownAgent { .. }
        | Refusal::BadSession { .. }
        | Refusal::NoRoute(_)
        | Refusal::QueueFull { .. }
        | Refusal::Host(_) => false,
    }
}

/// Makes of a message what the gateway hears, with the names of its files; nothing when there is nothing in it.
async fn notice(account: &Account, message: &Message) -> Option<Noticed> {
    let me = account.standing.me();
    let me_id = me.as_ref().map(|me| me.id);
    account.rooms.spoke(message.channel_id, message.author.id);
    if let Some(guild) = message.guild_id {
        account.know_guild(guild).await;
    }
    let written = written(account, message, me_id).await;
    let named = message.mentions.iter().any(|user| Some(user.id) == me_id)
        || account
            .rooms
            .is_own_role(message.guild_id, &message.mention_roles);
    let replied = message.replies_to.as_ref();
    let replied = replied.is_some_and(|replied| Some(replied.author.id) == me_id);
    let addressed = match (named, replied || written.ours) {
        (true, _) => Addressed::Named,
        (false, true) => Addressed::Replied,
        (false, false) => Addressed::No,
    };
    let mut text = words::said(message, &account.rooms, me_id);
    let files = attached::named(message);
    if text.is_empty() && files.is_empty() {
        if named {
            // Our name alone is a knock at the door.
            text = me.map_or_else(|| "@".to_owned(), |me| format!("@{}", me.name));
        } else {
            tell_of_no_content(account, message);
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
        incoming: Incoming {
            inbound: Inbound {
                channel: ID.to_owned(),
                account_id: account.address_id(),
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
            ..Incoming::default()
        },
        addressed,
        from_program: author.bot || message.webhook_id.is_some(),
        sender_names,
        room_name: written.room_name,
        room_names: written.room_names,
        guild_names: message
            .guild_id
            .and_then(|guild| account.rooms.guild_name(guild))
            .into_iter()
            .collect(),
        files,
    })
}

/// Finds out where a message was written.
async fn written(account: &Account, message: &Message, me: Option<Id>) -> Written {
    let id = message.channel_id;
    let room = match account.room(id).await {
        Ok(room) => Some(room),
        Err(fault) => {
            account.tell(&format!(
                "it is not known what kind of channel `{id}` is: {}",
                fault.words
            ));
            None
        }
    };
    if message.guild_id.is_none() {
        let group = room
            .as_ref()
            .is_some_and(|room| room.kind == channel::GROUP);
        if !group {
            account.rooms.direct(message.author.id, id);
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
    let above = above(account, &room).await;
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

/// Returns the channel of a thread.
async fn above(account: &Account, room: &Channel) -> Option<Channel> {
    account.room(room.parent_id?).await.ok()
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

/// Says once that messages come without their words.
fn tell_of_no_content(account: &Account, message: &Message) {
    if message.guild_id.is_none() || account.told_of_no_content.swap(true, Ordering::Relaxed) {
        return;
    }
    account.tell(
        "a message came without its words. Switch on `Message Content Intent` for the bot on \
         https://discord.com/developers/applications and leave `channels.discord.intents.messageContent` on; until then only direct \
         messages and messages that name the bot can be read",
    );
}
