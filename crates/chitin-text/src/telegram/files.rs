//! Names of files that Telegram would take for addresses: `README.md` is one of Moldova.

use crate::compat::FILE_ENDINGS;

/// Tells whether a link leads only to its own label, and that is the name of a file.
pub(super) fn is_file_link(href: &str, label: &str) -> bool {
    let lower = href.to_ascii_lowercase();
    let scheme = ["http://", "https://"]
        .iter()
        .find(|scheme| lower.starts_with(*scheme))
        .map_or(0, |scheme| scheme.len());
    if &href[scheme..] != label {
        return false;
    }
    let Some((name, ending)) = label.rsplit_once('.') else {
        return false;
    };
    let folders = label.rsplit_once('/').map_or("", |(folders, _)| folders);
    !name.is_empty() && is_ending(ending) && !folders.contains('.')
}

fn is_ending(ending: &str) -> bool {
    FILE_ENDINGS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
}

/// Marks names of files in HTML as code, but for those in code and in links.
pub(super) fn mark(html: &str) -> String {
    if !html.contains('.') {
        return html.to_owned();
    }
    let mut marked = String::with_capacity(html.len() + 32);
    let mut rest = html;
    let mut depth = 0usize;
    while let Some(at) = rest.find('<') {
        let Some(length) = rest[at..].find('>') else {
            break;
        };
        text(&rest[..at], depth, &mut marked);
        let tag = &rest[at..=at + length];
        let name = tag.trim_start_matches(['<', '/']);
        let name = name
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
            .next()
            .unwrap_or_default();
        if matches!(name, "code" | "pre" | "a") {
            depth = if tag.starts_with("</") {
                depth.saturating_sub(1)
            } else {
                depth + 1
            };
        }
        marked.push_str(tag);
        rest = &rest[at + length + 1..];
    }
    text(rest, depth, &mut marked);
    marked
}

fn text(text: &str, depth: usize, marked: &mut String) {
    if depth > 0 || !text.contains('.') {
        marked.push_str(text);
        return;
    }
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let mut rest = text;
    while let Some(start) = rest.find(in_name) {
        marked.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        match name_length(word) {
            Some(name) if !word.starts_with("//") => {
                marked.push_str("<code>");
                marked.push_str(&word[..name]);
                marked.push_str("</code>");
                marked.push_str(&word[name..]);
            }
            _ => marked.push_str(word),
        }
        rest = &rest[length..];
    }
    marked.push_str(rest);
}

/// Returns how much of a word is the name of a file: the most that ends in a known ending, before a dot or at the end.
fn name_length(word: &str) -> Option<usize> {
    let mut end = word.len();
    loop {
        let (name, ending) = word[..end].rsplit_once('.')?;
        if !name.is_empty() && is_ending(ending) {
            return Some(end);
        }
        end = name.len();
    }
}
