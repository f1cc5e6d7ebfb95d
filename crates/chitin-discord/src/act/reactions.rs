//! Signs under messages.

use crate::account::Account;
use crate::ids::Id;
use crate::places;
use crate::rest::{Body, Method};
use crate::wire::{User, readable};
use chitin_gateway::surface::SurfaceOutcome;
use chitin_gateway::{Address, SurfaceError};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// The longest sign, in bytes.
const MOST_EMOJI: usize = 120;

pub(super) async fn react(
    account: &Account,
    to: &Address,
    message: &str,
    emoji: &str,
    remove: bool,
) -> Result<SurfaceOutcome, SurfaceError> {
    let message = places::id(message, "message")?;
    let emoji = encoded(emoji)?;
    let channel = account.channel_of(to).await?;
    let path = format!("channels/{channel}/messages/{message}/reactions/{emoji}/@me");
    let method = if remove { Method::DELETE } else { Method::PUT };
    account.rest.call(method, &path, Body::None).await?;
    Ok(SurfaceOutcome::Done)
}

/// Tells which signs are under a message; who put one there when it is named.
pub(super) async fn list(
    account: &Account,
    to: &Address,
    message: &str,
    emoji: Option<&str>,
) -> Result<Value, SurfaceError> {
    let message = places::id(message, "message")?;
    let channel = account.channel_of(to).await?;
    if let Some(emoji) = emoji {
        let path = format!(
            "channels/{channel}/messages/{message}/reactions/{}?limit=100",
            encoded(emoji)?
        );
        let users = readable::<User>(account.rest.get(&path).await?);
        let users: Vec<Value> = users
            .iter()
            .map(|user| json!({"id": user.id, "name": user.shown()}))
            .collect();
        return Ok(json!({"emoji": emoji, "users": users}));
    }
    let message = super::messages::get(account, channel, message).await?;
    let signs: Vec<Value> = message
        .reactions
        .iter()
        .map(|reaction| {
            let name = reaction.emoji.name.as_deref().unwrap_or_default();
            let emoji = match reaction.emoji.id {
                Some(id) => format!("{name}:{id}"),
                None => name.to_owned(),
            };
            json!({"emoji": emoji, "count": reaction.count, "own": reaction.me})
        })
        .collect();
    Ok(json!({"reactions": signs}))
}

/// Writes a sign as it stands in a path: one of Unicode, or `name:id` of a server's own, which may be written as in a message.
fn encoded(emoji: &str) -> Result<String, SurfaceError> {
    let emoji = emoji.trim();
    let own = emoji
        .strip_prefix('<')
        .and_then(|emoji| emoji.strip_suffix('>'));
    let own = own.unwrap_or(emoji);
    let own = own
        .strip_prefix("a:")
        .or_else(|| own.strip_prefix(':'))
        .unwrap_or(own);
    if let Some((name, id)) = own.split_once(':')
        && let Some(id) = Id::parse(id)
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    {
        return Ok(format!("{name}:{id}"));
    }
    let is_sign = !emoji.is_empty() && emoji.len() <= MOST_EMOJI && !emoji.is_ascii();
    // The signs for digits begin with one.
    let has_sign = emoji.chars().any(|c| !c.is_alphanumeric() && !c.is_ascii());
    if !is_sign || !has_sign {
        return Err(SurfaceError::never(
            "`emoji` must be one sign such as 👍, or `name:id` of one that the server has.",
        ));
    }
    Ok(utf8_percent_encode(emoji, NON_ALPHANUMERIC).to_string())
}
