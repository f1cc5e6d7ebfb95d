//! Where links lead: destinations, titles and definitions.

use super::entity::unescape;
use std::collections::HashMap;

/// Parentheses in parentheses of a destination.
const DEEPEST: usize = 32;

/// Definitions of links, by label.
#[derive(Debug, Default)]
pub(super) struct References(HashMap<String, String>);

impl References {
    /// Adds a definition. The first one counts.
    pub(super) fn define(&mut self, label: &str, href: String) {
        self.0.entry(folded(label)).or_insert(href);
    }

    pub(super) fn get(&self, label: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&folded(label)).map(String::as_str)
    }
}

/// Returns a label as it is compared: with single blanks, in any case.
fn folded(label: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    words.join(" ").to_lowercase().to_uppercase()
}

/// Reads a definition: its label, where it leads, and how long it is.
pub(super) fn definition(text: &str) -> Option<(String, String, usize)> {
    let label_end = label_end(text)?;
    let label = &text[1..label_end];
    let mut at = label_end + 1;
    if text.as_bytes().get(at) != Some(&b':') || label.trim().is_empty() {
        return None;
    }
    at += 1;
    at += blanks(&text[at..]);
    let (href, length) = destination(&text[at..])?;
    if length == 0 {
        return None;
    }
    let href = normalized(&href);
    if !is_allowed(&href) {
        return None;
    }
    at += length;
    let parted = blanks(&text[at..]);
    let with_title = (parted > 0)
        .then(|| title(&text[at + parted..]))
        .flatten()
        .map(|length| at + parted + length)
        .filter(|&end| line_ends(&text[end..]).is_some());
    let end = with_title.unwrap_or(at);
    let end = end + line_ends(&text[end..])?;
    Some((label.to_owned(), href, end))
}

/// Returns how many blanks end a line, if nothing else does.
fn line_ends(text: &str) -> Option<usize> {
    let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
    matches!(text.as_bytes().get(blanks), None | Some(b'\n')).then_some(blanks)
}

/// Returns where the label that a text begins with is closed.
fn label_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'[' => return None,
            b']' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Returns the length of blanks and line ends.
pub(super) fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n']).len()
}

/// Reads a destination; returns it and its length.
pub(super) fn destination(text: &str) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    if bytes.first() == Some(&b'<') {
        at = 1;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' | b'<' => return None,
                b'>' => return Some((unescape(&text[1..at]), at + 1)),
                b'\\' if at + 1 < bytes.len() => at += 2,
                _ => at += 1,
            }
        }
        return None;
    }
    let mut depth = 0;
    while at < bytes.len() {
        match bytes[at] {
            b' ' | 0..0x20 | 0x7f => break,
            b'\\' if at + 1 < bytes.len() => {
                if bytes[at + 1] == b' ' {
                    break;
                }
                at += 1;
            }
            b'(' => {
                depth += 1;
                if depth > DEEPEST {
                    return None;
                }
            }
            b')' => {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            }
            _ => {}
        }
        at += 1;
    }
    let at = at.min(text.len());
    let inner = text.get(..at)?;
    (depth == 0).then(|| (unescape(inner), at))
}

/// Returns the length of a title.
pub(super) fn title(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let close = match bytes.first()? {
        b'"' => b'"',
        b'\'' => b'\'',
        b'(' => b')',
        _ => return None,
    };
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            byte if byte == close => return Some(at + 1),
            b'(' if close == b')' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Returns a destination as it is written into a link.
pub(super) fn normalized(href: &str) -> String {
    const KEPT: &str = ";/?:@&=+$,-_.!~*'()#";
    let mut encoded = String::with_capacity(href.len());
    let bytes = href.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let code = byte == b'%'
            && bytes
                .get(at + 1..at + 3)
                .is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
        if byte.is_ascii_alphanumeric() || code || KEPT.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend([byte >> 4, byte & 15].map(hexadecimal));
        }
    }
    encoded
}

/// Returns half a byte as a digit.
fn hexadecimal(half: u8) -> char {
    char::from_digit(u32::from(half), 16).map_or('0', |digit| digit.to_ascii_uppercase())
}

/// Tells whether a destination runs no script and holds no document.
pub(super) fn is_allowed(href: &str) -> bool {
    let lower = href.trim().to_ascii_lowercase();
    let refused = ["vbscript:", "javascript:", "file:", "data:"];
    let image = ["gif;", "png;", "jpeg;", "webp;"].iter().any(|kind| {
        lower
            .strip_prefix("data:image/")
            .is_some_and(|rest| rest.starts_with(kind))
    });
    image || !refused.iter().any(|scheme| lower.starts_with(scheme))
}
