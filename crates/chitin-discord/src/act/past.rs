//! What was said at a place.

use crate::account::Account;
use crate::compat::{PAGE, message};
use crate::ids::Id;
use crate::places;
use crate::rest::Fault;
use crate::text;
use crate::wire::{Message, readable};
use chitin_gateway::surface::{PastMessage, SurfaceOutcome};
use chitin_gateway::{Address, SurfaceError};
use serde_json::Value;
use std::fmt::Write as _;

/// The most messages that are read at once.
const MOST: u32 = 1_001;

/// Reads what was said, page by page, the newest last.
pub(super) async fn read(
    account: &Account,
    to: &Address,
    limit: u32,
    before: Option<&str>,
) -> Result<SurfaceOutcome, SurfaceError> {
    let channel = account.channel_of(to).await?;
    let mut before = before.map(|id| places::id(id, "message")).transpose()?;
    // Who we are decides which words are ours.
    let me = account.me().await?.id;
    let mut left = limit.min(MOST);
    let mut messages: Vec<PastMessage> = Vec::new();
    while left > 0 {
        let page = left.min(PAGE);
        let (came, oldest, found) = read_page(account, channel, page, before, me).await?;
        messages.extend(found);
        left -= page;
        if came < page || oldest.is_none() {
            break;
        }
        before = oldest;
    }
    messages.reverse();
    Ok(SurfaceOutcome::Said { messages })
}

/// Reads one page, the newest first. Returns how many came, the oldest of them, and what can be shown.
async fn read_page(
    account: &Account,
    channel: Id,
    count: u32,
    before: Option<Id>,
    me: Id,
) -> Result<(u32, Option<Id>, Vec<PastMessage>), Fault> {
    let mut path = format!("channels/{channel}/messages?limit={count}");
    if let Some(before) = before {
        let _ = write!(path, "&before={before}");
    }
    let page = account.rest.get(&path).await?;
    let came = page.as_array().map_or(0, Vec::len);
    let oldest = page.as_array().and_then(|page| page.last());
    let oldest = oldest
        .and_then(|oldest| oldest["id"].as_str())
        .and_then(Id::parse);
    let found = readable::<Message>(page);
    let found = found
        .iter()
        .map(|message| past(account, message, me))
        .collect();
    Ok((u32::try_from(came).unwrap_or(u32::MAX), oldest, found))
}

/// Makes a record of a message. What hangs on it is named.
pub(super) fn past(account: &Account, heard: &Message, me: Id) -> PastMessage {
    // A thread that hangs under a message begins with a sign that stands for that message.
    let shown = match &heard.replies_to {
        Some(first) if heard.kind == message::THREAD_STARTER => first,
        _ => heard,
    };
    let mut text = text::said(shown, &account.ears.rooms, None);
    let passed = shown.passed_on.iter();
    let passed = passed.flat_map(|snapshot| &snapshot.message.attachments);
    for file in shown.attachments.iter().chain(passed) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "[file: {}, {} bytes]", file.filename, file.size);
    }
    let nick = shown
        .member
        .as_ref()
        .and_then(|member| member.nick.as_deref());
    PastMessage {
        message_id: heard.id.to_string(),
        sender: Some(nick.unwrap_or(shown.author.shown()).to_owned()),
        own: shown.author.id == me,
        text,
        at: shown.timestamp.clone(),
    }
}

/// Makes records of a list of messages.
pub(super) fn records(account: &Account, messages: Value, me: Id) -> Vec<PastMessage> {
    let messages = readable::<Message>(messages);
    messages
        .iter()
        .map(|message| past(account, message, me))
        .collect()
}
