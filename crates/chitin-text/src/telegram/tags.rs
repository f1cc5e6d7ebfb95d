//! Tags that the author wrote and Telegram knows.

use crate::markdown::html_tag;

const SIMPLE: [&str; 12] = [
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "code",
    "pre",
    "tg-spoiler",
];

/// No tag that Telegram knows is longer, in bytes.
const LONGEST_TAG: usize = 4096;

/// Turns escaped tags back into tags, where Telegram knows them and they are not in code. What is not closed is not opened.
pub(super) fn keep_known(html: &str) -> String {
    if !html.contains("&lt;") {
        return html.to_owned();
    }
    let mut kept = String::with_capacity(html.len());
    let mut open: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let Some(length) = html_tag(&rest[at..]) else {
            break;
        };
        text(&rest[..at], depth, &mut open, &mut kept);
        let tag = &rest[at..at + length];
        if tag.starts_with("<code") || tag.starts_with("<pre") {
            depth += 1;
        } else if tag.starts_with("</code") || tag.starts_with("</pre") {
            depth = depth.saturating_sub(1);
        }
        kept.push_str(tag);
        rest = &rest[at + length..];
    }
    text(rest, depth, &mut open, &mut kept);
    if open.is_empty() {
        kept
    } else {
        // Something would stay open: Telegram refuses that.
        html.to_owned()
    }
}

fn text(text: &str, depth: usize, open: &mut Vec<String>, kept: &mut String) {
    let mut rest = text;
    while depth == 0
        && let Some(at) = rest.find("&lt;")
    {
        kept.push_str(&rest[..at]);
        let inner = &rest[at + 4..];
        // One that ends far away is none; looking for its end every time would take time without measure.
        let near = &inner[..inner.floor_char_boundary(LONGEST_TAG)];
        let Some(end) = near.find("&gt;") else {
            kept.push_str("&lt;");
            rest = inner;
            continue;
        };
        let one_line = !inner[..end].contains('\n');
        let tag = one_line
            .then(|| known(&inner[..end], open))
            .flatten()
            .map(|tag| (tag, end));
        if let Some((tag, end)) = tag {
            kept.push_str(&tag);
            rest = &inner[end + 4..];
        } else {
            kept.push_str("&lt;");
            rest = inner;
        }
    }
    kept.push_str(rest);
}

/// Returns the tag that an escaped one stands for, if Telegram knows it.
fn known(inner: &str, open: &mut Vec<String>) -> Option<String> {
    let (closing, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let length = inner
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .unwrap_or(inner.len());
    let name = inner[..length].to_ascii_lowercase();
    let attributes = &inner[length..];
    if name.is_empty() || attributes.contains(['<', '>']) || attributes.contains("&lt;") {
        return None;
    }
    if closing {
        let last = open.last()?;
        if *last != name || !attributes.trim().is_empty() {
            return None;
        }
        open.pop();
        return Some(format!("</{inner}>"));
    }
    let plain = attributes.trim().is_empty();
    let simple = SIMPLE.contains(&name.as_str()) && plain;
    if !simple && !is_attributed(&name, attributes.trim(), plain) {
        return None;
    }
    open.push(name);
    Some(format!("<{inner}>"))
}

fn is_attributed(name: &str, attributes: &str, plain: bool) -> bool {
    let value = |attribute: &str| {
        attributes
            .strip_prefix(attribute)
            .and_then(|rest| rest.strip_prefix("=\""))
            .and_then(|rest| rest.strip_suffix('"'))
            .filter(|value| !value.is_empty() && !value.contains('"'))
    };
    match name {
        "a" => value("href").is_some(),
        "span" => value("class") == Some("tg-spoiler"),
        "tg-emoji" => value("emoji-id").is_some(),
        "blockquote" => plain || attributes == "expandable",
        _ => false,
    }
}
