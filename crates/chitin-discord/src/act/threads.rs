//! Threads and forum posts.

use crate::account::Account;
use crate::compat::{ARCHIVE_MINUTES, MOST_THREAD_NAME, channel, code};
use crate::ids::Id;
use crate::places;
use crate::rest::{Body, Fault, Method};
use crate::wire::{Channel, readable};
use chitin_gateway::surface::SurfaceOutcome;
use chitin_gateway::{Address, SurfaceError};
use serde_json::{Value, json};

/// Opens a thread: under a message, or by itself. In a forum it is a post.
pub(super) async fn create(
    account: &Account,
    to: &Address,
    name: &str,
    message: Option<&str>,
    minutes: Option<u32>,
) -> Result<SurfaceOutcome, SurfaceError> {
    let name: String = name.trim().chars().take(MOST_THREAD_NAME).collect();
    if name.is_empty() {
        return Err(SurfaceError::never("A thread needs a name."));
    }
    let message = message.map(|id| places::id(id, "message")).transpose()?;
    let at = account.channel_of(to).await?;
    let room = account.room(at).await?;
    if room.is_thread() {
        return Err(SurfaceError::never(
            "This is a thread already, and a thread has none of its own.",
        ));
    }
    if room.guild_id.is_none() {
        return Err(SurfaceError::never(
            "There are no threads in direct messages.",
        ));
    }
    let mut body = json!({"name": name});
    if let Some(minutes) = minutes {
        body["auto_archive_duration"] = json!(archive(minutes));
    }
    let path = match message {
        Some(message) if !room.is_forum() => format!("channels/{at}/messages/{message}/threads"),
        _ => {
            if room.is_forum() {
                // A post is never empty: it begins with what it is called.
                body["message"] = json!({"content": name, "allowed_mentions": {"parse": []}});
            } else if room.kind == channel::NEWS {
                body["type"] = json!(channel::NEWS_THREAD);
            } else {
                body["type"] = json!(channel::PUBLIC_THREAD);
            }
            format!("channels/{at}/threads")
        }
    };
    let thread = match account
        .rest
        .call(Method::POST, &path, Body::Json(body))
        .await
    {
        Ok(thread) => remember(account, thread)?,
        // There is one: a first try of ours that we did not hear of, or somebody else's. It has the message's id.
        Err(Fault {
            code: Some(code::THREAD_EXISTS),
            ..
        }) if message.is_some() => {
            message.ok_or_else(|| SurfaceError::never("There is a thread already."))?
        }
        Err(fault) => return Err(fault.into()),
    };
    Ok(SurfaceOutcome::Thread {
        address: account.thread_address(thread),
    })
}

fn remember(account: &Account, thread: Value) -> Result<Id, SurfaceError> {
    let thread: Channel =
        serde_json::from_value(thread).map_err(|_| SurfaceError::from(Fault::unreadable()))?;
    let id = thread.id;
    account.ears.rooms.channel(thread);
    Ok(id)
}

/// Returns the next time that Discord knows.
fn archive(minutes: u32) -> u32 {
    let known = ARCHIVE_MINUTES.into_iter().find(|known| *known >= minutes);
    known.unwrap_or(ARCHIVE_MINUTES[ARCHIVE_MINUTES.len() - 1])
}

/// Lists the threads of a channel: those that are open, and those that are put away when that is wanted.
pub(super) async fn list(
    account: &Account,
    to: &Address,
    archived: bool,
) -> Result<Value, SurfaceError> {
    let at = account.channel_of(to).await?;
    let room = account.room(at).await?;
    let (above, guild) = match (room.is_thread(), room.parent_id) {
        (true, Some(parent)) => (parent, room.guild_id),
        _ => (at, room.guild_id),
    };
    let guild = guild.ok_or_else(|| SurfaceError::never("This place is in no server."))?;
    let active = account
        .rest
        .get(&format!("guilds/{guild}/threads/active"))
        .await?;
    let mut threads: Vec<Value> = readable::<Channel>(active["threads"].clone())
        .into_iter()
        .filter(|thread| thread.parent_id == Some(above))
        .map(|thread| shown(&thread, false))
        .collect();
    if archived {
        let path = format!("channels/{above}/threads/archived/public?limit=100");
        let old = account.rest.get(&path).await?;
        let old = readable::<Channel>(old["threads"].clone());
        threads.extend(old.iter().map(|thread| shown(thread, true)));
    }
    Ok(json!({"threads": threads}))
}

fn shown(thread: &Channel, archived: bool) -> Value {
    json!({"threadId": thread.id, "name": thread.name, "archived": archived})
}
