//! Markdown, read into text with marks on it: what Slack and Telegram are given their own markup from.
//!
//! The rules are those of CommonMark, with strikethrough and, where asked for, spoilers and bare addresses. HTML is text.

mod block;
mod build;
mod delimiters;
mod entity;
mod html;
mod inline;
mod lines;
mod linkify;
mod reference;

pub(super) use html::tag as html_tag;

use super::marked::Marked;
use block::Token;
use chitin_contract::MarkdownRules;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// What is made of Markdown for a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// Whether addresses in words become links.
    pub bare_links: bool,
    /// Whether `<https://…>` is a link.
    pub autolinks: bool,
    /// Whether `||…||` is hidden until it is touched.
    pub spoilers: bool,
    /// Whether headings are bold.
    pub bold_headings: bool,
    /// What stands before a quotation.
    pub quote_prefix: &'static str,
}

/// Reads Markdown.
pub(super) fn read(source: &str, dialect: Dialect, rules: MarkdownRules) -> Marked {
    let (tokens, references) = block::blocks(&unix_lines(source));
    build::build(&tokens, &references, dialect, rules)
}

/// Returns the code blocks of a text with line ends of one kind, in UTF-16 units, without the line ends behind them.
pub(super) fn code_blocks(text: &str) -> Vec<Range<usize>> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let mut units = 0;
    for line in text.split('\n') {
        starts.push(units);
        units += line.encode_utf16().count();
        ends.push(units);
        units += 1;
    }
    let (tokens, _) = block::blocks(text);
    tokens
        .into_iter()
        .filter_map(|token| match token {
            Token::Code { lines, .. } => {
                Some(*starts.get(lines.start)?..*ends.get(lines.end.checked_sub(1)?)?)
            }
            _ => None,
        })
        .collect()
}

fn unix_lines(source: &str) -> String {
    if source.contains(['\r', '\0']) {
        source
            .replace("\r\n", "\n")
            .replace('\r', "\n")
            .replace('\0', "\u{fffd}")
    } else {
        source.to_owned()
    }
}

#[expect(clippy::unwrap_used, reason = "the pattern is a constant")]
static PUNCTUATION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{P}").unwrap());

#[expect(clippy::unwrap_used, reason = "the pattern is a constant")]
static SYMBOL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\p{S}").unwrap());

/// Tells whether Unicode takes a character for punctuation.
pub(crate) fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation() && !"$+<=>^`|~".contains(character);
    }
    !character.is_alphanumeric() && PUNCTUATION.is_match(character.encode_utf8(&mut [0; 4]))
}

/// Tells whether Unicode takes a character for a symbol.
fn is_symbol(character: char) -> bool {
    if character.is_ascii() {
        return "$+<=>^`|~".contains(character);
    }
    !character.is_alphanumeric() && SYMBOL.is_match(character.encode_utf8(&mut [0; 4]))
}
