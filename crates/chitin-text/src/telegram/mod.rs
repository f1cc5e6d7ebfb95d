//! The HTML of Telegram's bots (R56).

mod files;
mod tags;

use super::TextChunk;
use super::markdown::{self, Dialect};
use super::marked::{Link, Marked, Markup, Span, Style};
use super::rendered::{Writer, rendered};
use super::units::text as to_text;
use chitin_contract::{Html, LinkRules, MarkdownRules, OutboundRules, Spacing};

const DIALECT: Dialect = Dialect {
    bare_links: true,
    autolinks: true,
    spoilers: true,
    bold_headings: false,
    quote_prefix: "",
};

/// What links on Telegram may begin with.
const OPENABLE: [&str; 6] = ["http://", "https://", "tg://", "mailto:", "tel:", "#"];

/// Writes Markdown for Telegram, in pieces with their plain text.
pub(crate) fn telegram(text: &str, limit: usize, rules: &OutboundRules) -> Vec<TextChunk> {
    let parted = match rules.markdown.spacing {
        Spacing::Tight => None,
        Spacing::Source => Some(part_lists(text)),
    };
    let source = parted.as_deref().unwrap_or(text);
    let marked = markdown::read(source, DIALECT, rules.markdown);
    let html = TelegramHtml {
        rules: &rules.markdown,
    };
    rendered(&marked, limit, rules, &html)
        .into_iter()
        .map(|(plain, body)| TextChunk {
            body,
            plain: Some(to_text(&plain)),
        })
        .collect()
}

struct TelegramHtml<'a> {
    rules: &'a MarkdownRules,
}

impl Writer for TelegramHtml<'_> {
    fn write(&self, marked: &Marked) -> String {
        let html = marked.write(&Tags { rules: self.rules });
        let html = match self.rules.html {
            Html::Text => html,
            Html::Tags => tags::keep_known(&html),
        };
        files::mark(&html)
    }
}

struct Tags<'a> {
    rules: &'a MarkdownRules,
}

impl Markup for Tags<'_> {
    fn style(&self, span: &Span) -> Option<(String, &'static str)> {
        let (opening, closing) = match (span.style, &span.language) {
            (Style::Bold, _) => ("<b>", "</b>"),
            (Style::Italic, _) => ("<i>", "</i>"),
            (Style::Strikethrough, _) => ("<s>", "</s>"),
            (Style::Code, _) => ("<code>", "</code>"),
            (Style::Spoiler, _) => ("<tg-spoiler>", "</tg-spoiler>"),
            (Style::Quote, _) => ("<blockquote>", "</blockquote>"),
            (Style::CodeBlock, None) => ("<pre><code>", "</code></pre>"),
            (Style::CodeBlock, Some(language)) => {
                let class = attribute(language);
                let opening = format!("<pre><code class=\"language-{class}\">");
                return Some((opening, "</code></pre>"));
            }
        };
        Some((opening.to_owned(), closing))
    }

    fn link(&self, link: &Link, label: &[u16]) -> Option<(String, &'static str)> {
        let href: &str = &link.href;
        let (openable, may_be_file) = match self.rules.links {
            LinkRules::Any => (true, true),
            LinkRules::Openable => {
                let lower = href.to_ascii_lowercase();
                let openable = OPENABLE.iter().any(|scheme| lower.starts_with(scheme));
                (openable, link.found)
            }
        };
        if !openable || (may_be_file && files::is_file_link(href, &to_text(label))) {
            return None;
        }
        Some((format!("<a href=\"{}\">", attribute(href)), "</a>"))
    }

    fn quotes_outside(&self) -> bool {
        self.rules.spacing == Spacing::Source
    }

    fn escape(&self, text: &[u16], written: &mut String) {
        for character in to_text(text).chars() {
            match character {
                '&' => written.push_str("&amp;"),
                '<' => written.push_str("&lt;"),
                '>' => written.push_str("&gt;"),
                _ => written.push(character),
            }
        }
    }
}

fn attribute(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Puts a blank line between a bullet and a number or a heading right behind it, but not in code.
fn part_lists(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let parted = |at: usize| {
        let (before, after) = (lines[at - 1], lines[at]);
        is_bullet(before) && is_boundary(after) && indent(after) <= indent(before)
    };
    if !(1..lines.len()).any(parted) {
        return text.to_owned();
    }
    let code = markdown::code_blocks(text);
    let in_code = |at: usize| {
        let after = code.partition_point(|code| code.end <= at);
        code.get(after).is_some_and(|code| code.start <= at)
    };
    let mut spaced = String::with_capacity(text.len() + 8);
    let (mut offset, mut before) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 {
            spaced.push('\n');
            if parted(at) && !in_code(before) && !in_code(offset) {
                spaced.push('\n');
            }
        }
        spaced.push_str(line);
        before = offset;
        offset += line.encode_utf16().count() + 1;
    }
    spaced
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Tells whether blanks and then words follow a marker.
fn has_words(behind: &str) -> bool {
    let words = behind.trim_start_matches([' ', '\t']);
    words.len() < behind.len()
        && words
            .chars()
            .next()
            .is_some_and(|c| !chitin_protocol::text::is_js_whitespace(c))
}

fn is_bullet(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.strip_prefix(['•', '*', '+', '-'])
        .is_some_and(has_words)
}

fn is_boundary(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = unnumbered.len() < line.len();
    let behind_number = unnumbered.strip_prefix('.').filter(|_| numbered);
    let unmarked = line.trim_start_matches('#');
    let marks = line.len() - unmarked.len();
    behind_number.is_some_and(has_words) || ((1..=6).contains(&marks) && has_words(unmarked))
}
