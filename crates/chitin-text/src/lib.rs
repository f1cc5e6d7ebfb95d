//! Replies as chat channels take them: chunks within a channel's limits, Markdown in its dialect, silent tokens taken off.
//!
//! **In:** the text of a reply in Markdown (whole, or delta by delta), the limits of a surface, the rules of a contract
//! and, for [`settings`] and [`previews`], the user's configuration as JSON.
//! **Out:** chunks that are ready to send ([`chunks`]), blocks of a reply that is still being written ([`BlockStream`]),
//! and whether anything is to be sent at all ([`silent`]).
//! **Never:** network, disk, clock or environment. Everything here is a pure function of its arguments.
//!
//! ```
//! use chitin_contract::OutboundRules;
//! use chitin_text::{ChunkLimits, TextFormat, chunks, silent};
//!
//! let rules = OutboundRules::CANONICAL;
//! let sent = chunks("**Lamps** are lit.", &ChunkLimits::of(TextFormat::Slack), &rules);
//! assert_eq!(sent[0].body, "*Lamps* are lit.");
//! assert!(silent::is_silent_answer("NO_REPLY", &rules));
//! ```
//!
//! The Markdown parser is our own: the dialects are those of OpenClaw's renderers, byte for byte, and the recorded cases
//! in `conformance/outbound` hold it to them. Rule ids such as R50 resolve in `conformance/*/SPEC.md`.

pub mod compat;
mod discord;
mod fenced;
mod fences;
mod markdown;
mod marked;
mod paragraphs;
mod plain;
pub mod previews;
mod rendered;
pub mod settings;
pub mod silent;
mod slack;
mod stream;
mod telegram;
mod units;

pub use stream::{BlockStream, blocks};

use chitin_contract::OutboundRules;
use markdown::is_punctuation;
use serde::Serialize;
use serde_json::Value;

/// The markup that a surface understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// No markup.
    Plain,
    /// Markdown.
    Markdown,
    /// Markdown as Discord reads it.
    Discord,
    /// Slack's mrkdwn.
    Slack,
    /// The HTML of Telegram's bots.
    Telegram,
}

/// Where a reply is split into chunks, besides where its length demands it (`chunkMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ChunkMode {
    /// Nowhere.
    #[default]
    Length,
    /// Between paragraphs.
    Newline,
}

impl ChunkMode {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value?.as_str()? {
            "length" => Some(Self::Length),
            "newline" => Some(Self::Newline),
            _ => None,
        }
    }
}

/// The limits of one message on a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkLimits {
    /// The markup that it understands.
    pub format: TextFormat,
    /// The longest message, in UTF-16 units; 0 is no limit where a surface has none.
    pub max_chars: usize,
    /// The most lines of a message. Only Discord counts them.
    pub max_lines: usize,
    /// Where a reply is split, besides where its length demands it.
    pub mode: ChunkMode,
}

impl ChunkLimits {
    /// Returns the default limits of a format.
    pub const fn of(format: TextFormat) -> Self {
        Self {
            format,
            max_chars: match format {
                TextFormat::Plain
                | TextFormat::Markdown
                | TextFormat::Slack
                | TextFormat::Telegram => settings::DEFAULT_LIMIT,
                TextFormat::Discord => 2000,
            },
            max_lines: 17,
            mode: ChunkMode::Length,
        }
    }
}

/// One chunk of a reply: a message that is ready to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChunk {
    /// The text to send.
    pub body: String,
    /// The same without markup, for a surface that refuses the markup. Only Telegram needs it.
    pub plain: Option<String>,
}

/// Splits a reply into chunks for a surface.
pub fn chunks(text: &str, limits: &ChunkLimits, rules: &OutboundRules) -> Vec<TextChunk> {
    let limit = limits.max_chars;
    let bodies = match (limits.format, limits.mode) {
        (TextFormat::Plain, ChunkMode::Length) => {
            texts(&plain::plain(&units::units(text), limit, rules.cuts))
        }
        (TextFormat::Plain, ChunkMode::Newline) => {
            texts(&paragraphs::plain_paragraphs(text, limit, rules))
        }
        (TextFormat::Markdown, ChunkMode::Length) => {
            texts(&fenced::fenced(&units::units(text), limit, rules))
        }
        (TextFormat::Markdown, ChunkMode::Newline) => {
            texts(&paragraphs::fenced_paragraphs(text, limit, rules))
        }
        (TextFormat::Discord, _) => discord::discord(text, limits, rules),
        (TextFormat::Slack, mode) => parts(text, mode, limit, rules)
            .iter()
            .flat_map(|part| slack::slack(part, limit, rules))
            .collect(),
        (TextFormat::Telegram, mode) => {
            return parts(text, mode, limit, rules)
                .iter()
                .flat_map(|part| telegram::telegram(part, limit, rules))
                .collect();
        }
    };
    bodies
        .into_iter()
        .map(|body| TextChunk { body, plain: None })
        .collect()
}

/// Returns the Markdown that is rendered as one.
fn parts(text: &str, mode: ChunkMode, limit: usize, rules: &OutboundRules) -> Vec<String> {
    match mode {
        ChunkMode::Length => vec![text.to_owned()],
        ChunkMode::Newline => texts(&paragraphs::fenced_paragraphs(text, limit, rules)),
    }
}

fn texts(pieces: &[Vec<u16>]) -> Vec<String> {
    pieces.iter().map(|piece| units::text(piece)).collect()
}
