//! Characters that HTML spells out.

use std::borrow::Cow;

/// The names that pages really use.
const NAMED: [(&str, &str); 48] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("sbquo", "‚"),
    ("bdquo", "„"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("lsaquo", "‹"),
    ("rsaquo", "›"),
    ("bull", "•"),
    ("middot", "·"),
    ("times", "×"),
    ("divide", "÷"),
    ("plusmn", "±"),
    ("deg", "°"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("sect", "§"),
    ("para", "¶"),
    ("larr", "←"),
    ("uarr", "↑"),
    ("rarr", "→"),
    ("darr", "↓"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("shy", ""),
    ("zwnj", ""),
];

/// Longer names are none.
const LONGEST_NAME: usize = 10;

/// Puts characters in the place of their names.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((character, length)) = entity(&rest[1..]) {
            out.push_str(&character);
            rest = &rest[1 + length..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Reads a name and its `;`, and returns how long they are.
fn entity(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let end = text
        .as_bytes()
        .iter()
        .take(LONGEST_NAME)
        .position(|byte| *byte == b';')?;
    let name = &text[..end];
    let character = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            let character = char::from_u32(code).filter(|c| *c != '\0');
            Cow::Owned(character.unwrap_or('\u{fffd}').to_string())
        }
        None => NAMED
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, character)| Cow::Borrowed(*character))?,
    };
    Some((character, end + 1))
}
