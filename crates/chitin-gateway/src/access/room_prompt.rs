//! What a configuration tells an agent about a room (`systemPrompt`).

use super::quote::cut;
use super::rooms::{Room, kind};
use super::settings::Section;
use crate::intake::Noticed;
use chitin_protocol::session_key::ChatType;
use chitin_protocol::text::trim_js;
use serde_json::Value;

/// The most of it that reaches a prompt, in bytes.
pub const MOST_ROOM_PROMPT: usize = 16 * 1024;

/// Finds what an agent is told about the room of a message: the narrowest that says anything, without the space around it.
pub fn room_prompt<'a>(config: &'a Value, noticed: &Noticed) -> Option<&'a str> {
    if kind(noticed) == ChatType::Direct {
        return None;
    }
    let section = Section::for_message(config, noticed);
    let places = Room::look_up(&section, noticed).access.into_iter();
    let mut said = places.filter_map(|place| place["systemPrompt"].as_str().map(trim_js));
    let text = said.find(|text| !text.is_empty())?;
    Some(cut(text, MOST_ROOM_PROMPT))
}
