//! Text on its way out, in pieces that a surface takes (R50–R58).
//!
//! In: what an agent says, in Markdown. Out: pieces within the limits of a surface, each readable by itself. All of it is plain
//! functions; a surface names its [`Format`] and its limits and sends what [`pieces`] gives.

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
mod slack;
mod stream;
mod telegram;
mod units;

pub use stream::{BlockStream, blocks};

pub(crate) use markdown::is_punctuation;

use chitin_contract::OutboundRules;
use serde::Serialize;
use serde_json::Value;

/// What a surface understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Nothing but text.
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

/// Where a text is cut, besides where it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Nowhere.
    #[default]
    Length,
    /// Between paragraphs.
    Newline,
}

impl Mode {
    fn read(value: Option<&Value>) -> Option<Self> {
        match value?.as_str()? {
            "length" => Some(Self::Length),
            "newline" => Some(Self::Newline),
            _ => None,
        }
    }
}

/// What a surface takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What it understands.
    pub format: Format,
    /// The longest message, in UTF-16 units; 0 is no limit where a surface has none.
    pub max_chars: usize,
    /// The most lines of a message. Only Discord counts them.
    pub max_lines: usize,
    /// Where a text is cut, besides where it must be.
    pub mode: Mode,
}

impl Limits {
    /// Returns the limits that a surface has by itself.
    pub const fn of(format: Format) -> Self {
        Self {
            format,
            max_chars: match format {
                Format::Plain | Format::Markdown | Format::Slack | Format::Telegram => {
                    settings::DEFAULT_LIMIT
                }
                Format::Discord => 2000,
            },
            max_lines: 17,
            mode: Mode::Length,
        }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What is sent.
    pub body: String,
    /// The same without markup, for when the surface refuses it. Only Telegram needs it.
    pub plain: Option<String>,
}

/// Cuts a text into messages for a surface.
pub fn pieces(text: &str, limits: &Limits, rules: &OutboundRules) -> Vec<Piece> {
    let limit = limits.max_chars;
    let bodies = match (limits.format, limits.mode) {
        (Format::Plain, Mode::Length) => {
            texts(&plain::plain(&units::units(text), limit, rules.cuts))
        }
        (Format::Plain, Mode::Newline) => texts(&paragraphs::plain_paragraphs(text, limit, rules)),
        (Format::Markdown, Mode::Length) => {
            texts(&fenced::fenced(&units::units(text), limit, rules))
        }
        (Format::Markdown, Mode::Newline) => {
            texts(&paragraphs::fenced_paragraphs(text, limit, rules))
        }
        (Format::Discord, _) => discord::discord(text, limits, rules),
        (Format::Slack, mode) => parts(text, mode, limit, rules)
            .iter()
            .flat_map(|part| slack::slack(part, limit, rules))
            .collect(),
        (Format::Telegram, mode) => {
            return parts(text, mode, limit, rules)
                .iter()
                .flat_map(|part| telegram::telegram(part, limit, rules))
                .collect();
        }
    };
    bodies
        .into_iter()
        .map(|body| Piece { body, plain: None })
        .collect()
}

/// Returns the Markdown that is rendered as one.
fn parts(text: &str, mode: Mode, limit: usize, rules: &OutboundRules) -> Vec<String> {
    match mode {
        Mode::Length => vec![text.to_owned()],
        Mode::Newline => texts(&paragraphs::fenced_paragraphs(text, limit, rules)),
    }
}

fn texts(pieces: &[Vec<u16>]) -> Vec<String> {
    pieces.iter().map(|piece| units::text(piece)).collect()
}
