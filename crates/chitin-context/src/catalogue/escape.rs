//! Text made safe to stand between tags, and its length without making it (S52).

use super::compat::{ESCAPED, entity};

/// Appends a text, escaped.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPED) {
        out.push_str(&rest[..at]);
        let mut left = rest[at..].chars();
        if let Some(c) = left.next() {
            push_char(out, c);
        }
        rest = left.as_str();
    }
    out.push_str(rest);
}

/// Appends a character, escaped.
pub(super) fn push_char(out: &mut String, c: char) {
    match entity(c) {
        Some(entity) => out.push_str(entity),
        None => out.push(c),
    }
}

/// Returns the length of a text once it is escaped, in UTF-16 units.
pub(super) fn escaped_units(text: &str) -> usize {
    // A lead byte tells how many units its character has; the bytes after it add nothing.
    text.bytes()
        .map(|byte| match byte {
            b'&' => 5,
            b'<' | b'>' => 4,
            b'"' | b'\'' => 6,
            0x80..=0xbf => 0,
            0xf0..=0xff => 2,
            _ => 1,
        })
        .sum()
}

/// Returns the length of a character once it is escaped, in UTF-16 units.
pub(super) fn escaped_char_units(c: char) -> usize {
    entity(c).map_or(c.len_utf16(), str::len)
}
