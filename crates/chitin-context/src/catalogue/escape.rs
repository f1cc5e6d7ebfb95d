//! Text made safe to stand between tags, and its length without making it (S52).

use super::compat::entity;

/// Appends a text, escaped.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    let mut brackets = memchr::memchr3_iter(b'&', b'<', b'>', bytes).peekable();
    let mut quotes = memchr::memchr2_iter(b'"', b'\'', bytes).peekable();
    let mut start = 0;
    loop {
        let next = match (brackets.peek(), quotes.peek()) {
            (Some(bracket), Some(quote)) if quote < bracket => quotes.next(),
            (Some(_), _) => brackets.next(),
            (None, _) => quotes.next(),
        };
        let Some(at) = next else { break };
        // What is escaped is one byte long, so both sides of it are whole characters.
        out.push_str(&text[start..at]);
        out.push_str(entity(bytes[at]).unwrap_or_default());
        start = at + 1;
    }
    out.push_str(&text[start..]);
}

/// Appends a character, escaped.
pub(super) fn push_char(out: &mut String, c: char) {
    match char_entity(c) {
        Some(entity) => out.push_str(entity),
        None => out.push(c),
    }
}

/// Returns the length of a text once it is escaped, in UTF-16 units.
pub(super) fn escaped_units(text: &str) -> usize {
    // Additions without branches, so that many bytes are looked at at once. A lead byte tells how many units its character
    // has; the bytes after it add nothing.
    let weight = |byte: u8| {
        u32::from(byte & 0xc0 != 0x80)
            + u32::from(byte >= 0xf0)
            + 4 * u32::from(byte == b'&')
            + 3 * u32::from(byte == b'<' || byte == b'>')
            + 5 * u32::from(byte == b'"' || byte == b'\'')
    };
    // No block is so long that its sum could overflow.
    text.as_bytes()
        .chunks(1 << 16)
        .map(|block| block.iter().map(|byte| weight(*byte)).sum::<u32>() as usize)
        .sum()
}

/// Returns the length of a character once it is escaped, in UTF-16 units.
pub(super) fn escaped_char_units(c: char) -> usize {
    char_entity(c).map_or(c.len_utf16(), str::len)
}

fn char_entity(c: char) -> Option<&'static str> {
    // Most characters are letters, and asking that is quicker.
    if c.is_ascii_alphanumeric() {
        return None;
    }
    u8::try_from(c).ok().and_then(entity)
}
