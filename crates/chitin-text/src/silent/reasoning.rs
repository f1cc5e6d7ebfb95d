//! Silence behind reasoning that was written into the answer.

use super::{is_silent, without_token_at_end};
use crate::compat::{REASONING_TAGS, REASONING_WORDS};
use chitin_contract::OutboundRules;
use chitin_protocol::text::{is_js_whitespace, trim_end_js, trim_js};

/// Tells whether a text is reasoning and then the token.
pub(super) fn is_silent_behind_reasoning(text: &str, rules: &OutboundRules) -> bool {
    let text = trim_js(text);
    let mut rest = text;
    while let Some(behind) = behind_block(rest) {
        rest = trim_js(behind);
    }
    if rest.len() < text.len() {
        return is_silent(rest, rules) || ends_in_token_only(rest);
    }
    let behind = behind_tag(text, Tag::Opening).or_else(|| behind_word(text));
    behind.is_some_and(|rest| is_silent(rest, rules) || ends_in_token_only(rest))
}

fn ends_in_token_only(text: &str) -> bool {
    without_token_at_end(trim_end_js(text))
        .is_some_and(|before| trim_js(before.strip_suffix(['*', '.']).unwrap_or(before)).is_empty())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Opening,
    Closing,
}

/// Returns what follows a complete block of reasoning.
fn behind_block(text: &str) -> Option<&str> {
    let mut inner = behind_tag(text, Tag::Opening)?;
    while let Some(at) = inner.find('<') {
        inner = &inner[at..];
        if let Some(behind) = behind_tag(inner, Tag::Closing) {
            return Some(behind);
        }
        inner = &inner[1..];
    }
    None
}

/// Returns what follows a tag of reasoning at the beginning.
fn behind_tag(text: &str, kind: Tag) -> Option<&str> {
    let blanks = |text: &'_ str| text.len() - text.trim_start_matches(is_js_whitespace).len();
    let mut rest = text.strip_prefix('<')?;
    rest = &rest[blanks(rest)..];
    if kind == Tag::Closing {
        rest = rest.strip_prefix('/')?;
        rest = &rest[blanks(rest)..];
    }
    let lower: String = rest
        .chars()
        .take(24)
        .collect::<String>()
        .to_ascii_lowercase();
    let vendor = ["antml:", "mm:"]
        .iter()
        .find(|vendor| lower.starts_with(*vendor))
        .map_or(0, |vendor| vendor.len());
    let name = REASONING_TAGS
        .iter()
        .find(|name| lower[vendor..].starts_with(*name))?;
    let behind = &rest[vendor + name.len()..];
    let end = behind.find('>')?;
    let attributes = &behind[..end];
    let word = attributes.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let allowed = match kind {
        Tag::Opening => !word && !attributes.contains('<'),
        Tag::Closing => trim_js(attributes).is_empty(),
    };
    allowed.then(|| &behind[end + 1..])
}

/// Returns what follows a line that only announces reasoning.
fn behind_word(text: &str) -> Option<&str> {
    let (line, rest) = text.split_once('\n')?;
    let line = trim_js(line);
    let word = trim_end_js(line.strip_suffix(':').unwrap_or(line));
    REASONING_WORDS
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
        .then_some(rest)
}
