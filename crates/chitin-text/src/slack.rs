//! Slack's own markup (R55).

use super::markdown::{self, Dialect};
use super::marked::{Link, Markup, Span, Style};
use super::rendered::rendered;
use super::units::text as to_text;
use chitin_contract::OutboundRules;
use chitin_protocol::text::trim_js;

const DIALECT: Dialect = Dialect {
    bare_links: false,
    autolinks: false,
    spoilers: false,
    bold_headings: true,
    quote_prefix: "> ",
};

/// What may stand in angle brackets on Slack: mentions and links.
const ALLOWED: [&str; 8] = [
    "@", "#", "!", "mailto:", "tel:", "http://", "https://", "slack://",
];

/// Writes Markdown for Slack, in pieces.
pub(crate) fn slack(text: &str, limit: usize, rules: &OutboundRules) -> Vec<String> {
    let marked = markdown::read(text, DIALECT, rules.markdown);
    rendered(&marked, limit, rules, &Mrkdwn)
        .into_iter()
        .map(|(_, body)| body)
        .collect()
}

struct Mrkdwn;

impl Markup for Mrkdwn {
    fn style(&self, span: &Span) -> Option<(String, &'static str)> {
        let (opening, closing) = match span.style {
            Style::Bold => ("*", "*"),
            Style::Italic => ("_", "_"),
            Style::Strikethrough => ("~", "~"),
            Style::Code => ("`", "`"),
            Style::CodeBlock => ("```\n", "```"),
            Style::Quote | Style::Spoiler => return None,
        };
        Some((opening.to_owned(), closing))
    }

    fn link(&self, link: &Link, label: &[u16]) -> Option<(String, &'static str)> {
        let label = to_text(label);
        let label = trim_js(&label);
        let href: &str = &link.href;
        let shown =
            label.is_empty() || label == href || href.strip_prefix("mailto:") == Some(label);
        (!shown).then(|| (format!("<{}|", escaped(href)), ">"))
    }

    fn escape(&self, text: &[u16], written: &mut String) {
        let text = to_text(text);
        if !text.contains(['&', '<', '>']) {
            written.push_str(&text);
            return;
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                written.push('\n');
            }
            let words = line.strip_prefix("> ");
            if words.is_some() {
                written.push_str("> ");
            }
            escape_line(words.unwrap_or(line), written);
        }
    }
}

/// Escapes a line, but for mentions and links.
fn escape_line(line: &str, written: &mut String) {
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let inner = &rest[at + 1..];
        let Some(length) = inner.find('>') else {
            break;
        };
        written.push_str(&escaped(&rest[..at]));
        let token = &rest[at..at + length + 2];
        if length > 0 && ALLOWED.iter().any(|allowed| inner.starts_with(allowed)) {
            written.push_str(token);
        } else if length == 0 {
            // No token: the bracket may open one further on.
            written.push_str("&lt;");
            rest = inner;
            continue;
        } else {
            written.push_str(&escaped(token));
        }
        rest = &inner[length + 1..];
    }
    written.push_str(&escaped(rest));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
