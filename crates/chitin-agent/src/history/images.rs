//! When old pictures are left out (C61).

use super::view::is_image;
use crate::compat::{IMAGE_AGED, MEDIA_AGED};
use chitin_contract::{ImageRules, TurnComplete};
use chitin_protocol::message::{Block, Content, Message};

/// Returns where the messages begin that keep their pictures. Pictures before it are old.
pub fn images_kept_from(messages: &[Message], rules: &ImageRules) -> usize {
    let mut complete: Vec<usize> = Vec::new();
    let mut begun: Option<usize> = None;
    let mut answered = false;
    for (at, message) in messages.iter().enumerate() {
        match message.role() {
            "user" => {
                complete.extend(begun.filter(|_| answered));
                begun = Some(at);
                answered = false;
            }
            "toolResult" => begun = begun.or(Some(at)),
            "assistant" => answered = begun.is_some(),
            _ => {}
        }
    }
    if rules.turn_complete == TurnComplete::Answered {
        complete.extend(begun.filter(|_| answered));
    }
    match complete.len().checked_sub(ImageRules::KEEP_TURNS) {
        Some(first) if first > 0 => complete.get(first).copied().unwrap_or(messages.len()),
        Some(_) | None => 0,
    }
}

/// Leaves old pictures out of a message of the user or of a tool. Tells nothing if there are none.
pub fn without_images(message: &Message, rules: &ImageRules) -> Option<Message> {
    let mut message = message.clone();
    let content = match &mut message {
        Message::User(user) => &mut user.content,
        Message::ToolResult(result) => &mut result.content,
        Message::Assistant(_) | Message::Other(_) => return None,
    };
    let mut changed = false;
    let mut age_text = |text: &mut String| {
        if rules.references
            && let Some(aged) = without_references(text)
        {
            *text = aged;
            changed = true;
        }
    };
    match content {
        Content::Text(text) => age_text(text),
        Content::Blocks(blocks) => {
            for block in blocks.iter_mut() {
                if let Block::Text(text) = block {
                    age_text(&mut text.text);
                }
            }
            for block in blocks.iter_mut().filter(|block| is_image(block)) {
                *block = Block::text(IMAGE_AGED);
                changed = true;
            }
        }
        Content::Other(_) => {}
    }
    changed.then_some(message)
}

/// What a reference to media begins and ends with.
const INBOUND: &str = "media://inbound/";

/// Replaces references to media. Tells nothing if there are none.
fn without_references(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some((before, length)) = next_reference(rest) {
        out.push_str(&rest[..before]);
        out.push_str(MEDIA_AGED);
        rest = &rest[before + length..];
        changed = true;
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// Finds the first reference: where it begins, and how long it is.
fn next_reference(text: &str) -> Option<(usize, usize)> {
    text.char_indices()
        .find_map(|(at, _)| Some((at, reference_length(&text[at..], &text[..at])?)))
}

fn reference_length(text: &str, before: &str) -> Option<usize> {
    if text.starts_with('[') {
        let end = text.find(']')?;
        let inside = text[1..end].to_ascii_lowercase();
        let attached = inside
            .strip_prefix("media attached")
            .is_some_and(|rest| has_value(skip_count(rest)));
        let source = inside
            .strip_prefix("image:")
            .and_then(|rest| rest.trim_start().strip_prefix("source"))
            .is_some_and(has_value);
        return (attached || source).then_some(end + 1);
    }
    let word_before = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = text.strip_prefix(INBOUND).filter(|_| !word_before)?;
    let length = name
        .find(|c: char| c == ']' || c == '/' || c == '\\' || c.is_whitespace())
        .unwrap_or(name.len());
    (length > 0).then_some(INBOUND.len() + length)
}

/// Skips a count such as ` 1/2`.
fn skip_count(text: &str) -> &str {
    let trimmed = text.trim_start();
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let first = digits(trimmed);
    let Some(rest) = trimmed[first..].strip_prefix('/').filter(|_| first > 0) else {
        return text;
    };
    match digits(rest) {
        0 => text,
        second => &rest[second..],
    }
}

fn has_value(text: &str) -> bool {
    text.strip_prefix(':')
        .is_some_and(|value| !value.is_empty())
}
