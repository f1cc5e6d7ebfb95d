//! Tags of HTML in words.

/// Finds tags, and remembers what ends nowhere: a text full of openings is read once.
#[derive(Debug, Default)]
pub(super) struct HtmlTags {
    /// From here on, these endings do not come any more.
    missing: [Option<usize>; 3],
}

/// What is only ended by a text of its own.
const LONG: [(&str, &str); 3] = [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")];

impl HtmlTags {
    /// Returns the length of the tag that begins at a place.
    pub(super) fn length(&mut self, source: &str, at: usize) -> Option<usize> {
        let text = &source[at..];
        for ((opening, ending), missing) in LONG.iter().zip(&mut self.missing) {
            let Some(inner) = text.strip_prefix(opening) else {
                continue;
            };
            if let Some(short) = [">", "->"]
                .iter()
                .find(|short| *opening == "<!--" && inner.starts_with(*short))
            {
                return Some(opening.len() + short.len());
            }
            if missing.is_some_and(|from| from <= at) {
                return None;
            }
            let Some(length) = inner.find(ending) else {
                *missing = Some(at);
                return None;
            };
            return Some(opening.len() + length + ending.len());
        }
        tag(text)
    }
}

/// Returns the length of an opening or a closing tag, or of a declaration.
pub(crate) fn tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
    if bytes.get(1) == Some(&b'!') && letter(2) {
        let end = text.find(['>', '<'].as_slice()).filter(|&end| end > 0);
        let end = end.or_else(|| text[1..].find('>').map(|end| end + 1))?;
        return (bytes[end] == b'>').then_some(end + 1);
    }
    let closing = bytes.get(1) == Some(&b'/');
    let mut at = if closing { 2 } else { 1 };
    if bytes.first() != Some(&b'<') || !letter(at) {
        return None;
    }
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    while bytes.get(at).is_some_and(word) {
        at += 1;
    }
    loop {
        let parted = spaces(bytes, at);
        at += parted;
        match bytes.get(at)? {
            b'>' => return Some(at + 1),
            b'/' if !closing && bytes.get(at + 1) == Some(&b'>') => return Some(at + 2),
            byte if !closing && parted > 0 && name_start(*byte) => at = attribute(bytes, at)?,
            _ => return None,
        }
    }
}

fn spaces(bytes: &[u8], at: usize) -> usize {
    let blank = |byte: &&u8| byte.is_ascii_whitespace();
    bytes[at..].iter().take_while(blank).count()
}

const fn name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':')
}

/// Returns where an attribute ends.
fn attribute(bytes: &[u8], mut at: usize) -> Option<usize> {
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b":._-".contains(byte);
    while bytes.get(at).is_some_and(name) {
        at += 1;
    }
    let equals = at + spaces(bytes, at);
    if bytes.get(equals) != Some(&b'=') {
        return Some(at);
    }
    let value = equals + 1 + spaces(bytes, equals + 1);
    let first = *bytes.get(value)?;
    if matches!(first, b'"' | b'\'') {
        let inner = &bytes[value + 1..];
        let length = inner.iter().position(|&byte| byte == first)?;
        return Some(value + length + 2);
    }
    let plain = |byte: &&u8| **byte > b' ' && !b"\"'=<>`".contains(byte);
    let length = bytes[value..].iter().take_while(plain).count();
    (length > 0).then_some(value + length)
}
