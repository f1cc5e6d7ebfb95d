//! Escapes and entities.

/// Names of characters that people write. Others stay as they are.
const NAMES: [(&str, &str); 62] = [
    ("AMP", "&"),
    ("GT", ">"),
    ("LT", "<"),
    ("QUOT", "\""),
    ("amp", "&"),
    ("apos", "'"),
    ("gt", ">"),
    ("lt", "<"),
    ("quot", "\""),
    ("nbsp", "\u{a0}"),
    ("ensp", "\u{2002}"),
    ("emsp", "\u{2003}"),
    ("thinsp", "\u{2009}"),
    ("zwj", "\u{200d}"),
    ("zwnj", "\u{200c}"),
    ("shy", "\u{ad}"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("ndash", "–"),
    ("mdash", "—"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("sbquo", "‚"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("bdquo", "„"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("lsaquo", "‹"),
    ("rsaquo", "›"),
    ("bull", "•"),
    ("middot", "·"),
    ("para", "¶"),
    ("sect", "§"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("times", "×"),
    ("divide", "÷"),
    ("minus", "−"),
    ("ne", "≠"),
    ("le", "≤"),
    ("ge", "≥"),
    ("asymp", "≈"),
    ("infin", "∞"),
    ("larr", "←"),
    ("uarr", "↑"),
    ("rarr", "→"),
    ("darr", "↓"),
    ("harr", "↔"),
    ("rArr", "⇒"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("check", "✓"),
];

/// The longest entity that is looked for.
const LONGEST: usize = 32;

/// Returns what an entity at the beginning stands for, and its length.
pub(super) fn entity(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('&')?;
    let length = inner.bytes().take(LONGEST).position(|byte| byte == b';')?;
    let name = &inner[..length];
    let character = match name.strip_prefix('#') {
        Some(number) => numbered(number)?.to_string(),
        None => NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, character)| (*character).to_owned())?,
    };
    Some((character, length + 2))
}

fn numbered(number: &str) -> Option<char> {
    let (digits, base, most) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16, 6),
        None => (number, 10, 7),
    };
    if digits.is_empty() || digits.len() > most || digits.starts_with('+') {
        return None;
    }
    let code = u32::from_str_radix(digits, base).ok()?;
    let broken = matches!(code, 0..=8 | 0xb | 0xe..=0x1f | 0x7f..=0x9f | 0xfdd0..=0xfdef)
        || code & 0xfffe == 0xfffe;
    Some(
        char::from_u32(code)
            .filter(|_| !broken)
            .unwrap_or('\u{fffd}'),
    )
}

/// Replaces escapes and entities.
pub(super) fn unescape(text: &str) -> String {
    if !text.contains(['\\', '&']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '&']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut characters = rest.chars();
        match (characters.next(), characters.next()) {
            (Some('\\'), Some(escaped)) if escaped.is_ascii_punctuation() => {
                plain.push(escaped);
                rest = &rest[2..];
            }
            (Some('&'), _) if let Some((character, length)) = entity(rest) => {
                plain.push_str(&character);
                rest = &rest[length..];
            }
            (first, _) => {
                plain.extend(first);
                rest = &rest[1..];
            }
        }
    }
    plain + rest
}
