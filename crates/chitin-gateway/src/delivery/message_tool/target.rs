//! Places as a model names them: `channel:42`, `user:7`, `chat:group:5:thread:9`, or just an id.

use crate::route::Peer;
use crate::surface::{Address, Surfaces};
use chitin_protocol::session_key::ChatType;

/// The longest name of a place.
const LONGEST: usize = 512;
/// Stands before the id of a thread.
const THREAD: &str = ":thread:";

/// What a name of a place is read with.
#[derive(Debug, Clone, Copy)]
pub struct TargetNaming<'a> {
    /// The surface that is meant when the name says none.
    pub channel: Option<&'a str>,
    /// The surfaces that there are.
    pub surfaces: &'a Surfaces,
    /// The place that the session speaks from; a bare id that is its own keeps its kind.
    pub own: Option<&'a Address>,
}

/// Reads the name of a place.
///
/// # Errors
///
/// A sentence that says what is missing.
pub fn parse(text: &str, naming: &TargetNaming<'_>) -> Result<Address, String> {
    let text = text.trim();
    if text.is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
        return Err(
            "`target` names no place. Say for example `channel:42` or `user:7`.".to_owned(),
        );
    }
    let (text, thread_id) = match text.rsplit_once(THREAD) {
        Some((place, thread)) if !thread.is_empty() => (place, Some(thread.to_owned())),
        _ => (text, None),
    };
    let (first, rest) = text.split_once(':').unwrap_or((text, ""));
    let named = (!rest.is_empty()
        && naming.surfaces.get(&first.to_lowercase()).is_some()
        && !is_id_of(first, rest, naming))
    .then_some((first, rest));
    let (channel, place) = match named {
        Some((channel, place)) => (Some(channel), place),
        None => (naming.channel, text),
    };
    let Some(channel) = channel else {
        return Err("It is not said on which surface `target` is. Give `channel` too.".to_owned());
    };
    let (kind, id) = match place.split_once(':') {
        Some((word, id)) if !id.trim().is_empty() => match kind(word) {
            Some(kind) => (Some(kind), id),
            None => (None, place),
        },
        _ => (None, place),
    };
    let id = match kind {
        Some(_) => id.trim(),
        None => id.trim().trim_start_matches(['#', '@']).trim(),
    };
    if id.is_empty() {
        return Err(format!("`{text}` names no place."));
    }
    let own = naming.own.filter(|own| own.peer.id == id);
    let kind = kind
        .or_else(|| own.map(|own| own.peer.kind))
        .or_else(|| place.starts_with('@').then_some(ChatType::Direct))
        .unwrap_or(ChatType::Channel);
    Ok(Address {
        channel: channel.to_lowercase(),
        account_id: naming.own.and_then(|own| {
            let same = own.channel == channel.to_lowercase();
            own.account_id.clone().filter(|_| same)
        }),
        peer: Peer {
            kind,
            id: id.to_owned(),
        },
        thread_id,
    })
}

/// A surface may be called like a kind of chat; then `chat:5` on it is the chat 5.
fn is_id_of(first: &str, rest: &str, naming: &TargetNaming<'_>) -> bool {
    kind(first).is_some() && !rest.contains(':') && naming.channel == Some(first)
}

/// Reads the word for a kind of place.
fn kind(word: &str) -> Option<ChatType> {
    match word.trim().to_ascii_lowercase().as_str() {
        "user" | "direct" | "dm" => Some(ChatType::Direct),
        "group" | "chat" => Some(ChatType::Group),
        "channel" => Some(ChatType::Channel),
        _ => None,
    }
}
