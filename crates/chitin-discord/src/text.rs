//! What a message says, as a reader sees it: names in place of numbers.

use crate::ids::Id;
use crate::rooms::Rooms;
use crate::wire::{Message, User};
use std::borrow::Cow;

/// What names are looked up in.
pub(crate) struct Names<'a> {
    pub(crate) rooms: &'a Rooms,
    pub(crate) guild: Option<Id>,
    pub(crate) mentions: &'a [User],
    /// Ourselves; our own name is taken off.
    pub(crate) me: Option<Id>,
}

/// Makes the mentions in a text readable: `<@42>` becomes `@Ada`. Ours is taken off.
pub(crate) fn readable(text: &str, names: &Names<'_>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        shown.push_str(before);
        let Some((name, after)) = mention(from, names) else {
            shown.push('<');
            rest = &from[1..];
            continue;
        };
        // Where our name stood, one blank is enough.
        let alone = shown.is_empty() || shown.ends_with(char::is_whitespace);
        rest = if name.is_empty() && alone {
            after.trim_start_matches(' ')
        } else {
            after
        };
        shown.push_str(&name);
    }
    shown.push_str(rest);
    shown.trim().to_owned()
}

/// Reads the mention that a text begins with; returns its name and what comes after it.
fn mention<'a>(text: &'a str, names: &Names<'_>) -> Option<(Cow<'static, str>, &'a str)> {
    // No mention is longer than a number and a few signs.
    let end = text.bytes().take(32).position(|byte| byte == b'>')?;
    let (inner, after) = (&text[1..end], &text[end + 1..]);
    let name = if let Some(role) = inner.strip_prefix("@&") {
        let name = names.rooms.role_name(names.guild, Id::parse(role)?)?;
        format!("@{}", name.trim_start_matches('@'))
    } else if let Some(user) = inner.strip_prefix('@') {
        let user = Id::parse(user.strip_prefix('!').unwrap_or(user))?;
        if Some(user) == names.me {
            return Some((Cow::Borrowed(""), after));
        }
        let user = names
            .mentions
            .iter()
            .find(|mentioned| mentioned.id == user)?;
        format!("@{}", user.shown())
    } else {
        let channel = Id::parse(inner.strip_prefix('#')?)?;
        format!("#{}", names.rooms.name(channel)?)
    };
    Some((Cow::Owned(name), after))
}

/// Returns what a message says: its text, what was passed on with it, and what its cards say when it says nothing else.
pub(crate) fn said(message: &Message, rooms: &Rooms, me: Option<Id>) -> String {
    let names = Names {
        rooms,
        guild: message.guild_id,
        mentions: &message.mentions,
        me,
    };
    let mut parts = vec![readable(&message.content, &names)];
    for snapshot in &message.passed_on {
        let text = readable(&snapshot.message.content, &names);
        if !text.is_empty() {
            parts.push(format!("[passed on] {text}"));
        }
    }
    let stickers = message.sticker_items.iter().take(3);
    parts.extend(stickers.map(|sticker| format!("[sticker: {}]", sticker.name)));
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        let cards = message.embeds.iter().take(10).filter_map(|embed| {
            let lines = [&embed.title, &embed.description, &embed.url];
            let lines: Vec<&str> = lines.into_iter().filter_map(Option::as_deref).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        });
        parts.extend(cards);
    }
    parts.join("\n")
}
