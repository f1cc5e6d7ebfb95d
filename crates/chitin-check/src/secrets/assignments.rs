//! Secrets that their name gives away: `password: …`, `API_KEY=…`.

use super::randomness::{entropy, is_placeholder};
use super::{MAX_SECRETS, Secret, SecretKind};
use std::ops::Range;

/// People choose passwords, so they are shorter and less random than what programs make.
const MIN_PASSWORD: usize = 10;

/// Ends of names, in small letters and without separators, and the shortest value that is worth a look.
const NAMES: &[(&str, usize)] = &[
    ("password", MIN_PASSWORD),
    ("passwd", MIN_PASSWORD),
    ("passphrase", MIN_PASSWORD),
    ("passcode", MIN_PASSWORD),
    ("secret", 16),
    ("token", 16),
    ("apikey", 16),
    ("accesskey", 16),
    ("secretkey", 16),
    ("privatekey", 16),
    ("authkey", 16),
    ("signingkey", 16),
    ("encryptionkey", 16),
    ("bearer", 16),
];

const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 256;

pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for at in memchr::memchr2_iter(b':', b'=', bytes) {
        if found.len() >= MAX_SECRETS {
            return;
        }
        let Some((name, min)) = name_before(text, at) else {
            continue;
        };
        let Some(value) = value_after(text, at + 1) else {
            continue;
        };
        let is_password = min == MIN_PASSWORD;
        let word = &text[value.clone()];
        if value.len() >= min && is_secret(word) && (is_password || !is_identifier(word)) {
            found.push(Secret::new(
                SecretKind::Assignment,
                value,
                format!("The value of `{name}`"),
                "[hidden]".to_owned(),
            ));
        }
    }
}

/// Returns the name before a sign, if it is one of those that name secrets.
fn name_before(text: &str, sign: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let mut end = sign;
    while end > 0 && matches!(bytes[end - 1], b' ' | b'\t' | b'"' | b'\'' | b'`' | b'*') {
        end -= 1;
    }
    let start = bytes[..end]
        .iter()
        .rev()
        .take(MAX_NAME)
        .take_while(|&&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '))
        .count();
    let name = text[end - start..end].trim_start();
    let last = *name.as_bytes().last()?;
    // All names end in one of few letters: most colons are done with here.
    if !matches!(last | 0x20, b'd' | b'e' | b't' | b'n' | b'y' | b'r') {
        return None;
    }
    let mut squeezed = [0_u8; MAX_NAME];
    let mut length = 0;
    for byte in name.bytes().filter(u8::is_ascii_alphanumeric) {
        squeezed[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let min = NAMES
        .iter()
        .find(|(ending, _)| squeezed[..length].ends_with(ending.as_bytes()))?
        .1;
    // Only the last words are the name; what comes before is the sentence.
    let shown = name.rsplitn(3, ' ').collect::<Vec<_>>();
    let words = shown.iter().take(2).map(|word| word.len()).sum::<usize>() + 1;
    let from = name.len().saturating_sub(words.min(name.len()));
    Some((name[from..].trim_start(), min))
}

/// Returns the value after a sign: one word, without quotes.
fn value_after(text: &str, mut start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_gap = |b: u8| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'*' | b'=' | b'>');
    while start < bytes.len() && is_gap(bytes[start]) {
        start += 1;
    }
    for scheme in ["Bearer ", "bearer ", "Basic "] {
        if text.get(start..)?.starts_with(scheme) {
            start += scheme.len();
        }
    }
    let is_end = |b: u8| {
        !b.is_ascii_graphic()
            || matches!(
                b,
                b'"' | b'\'' | b'`' | b',' | b';' | b')' | b']' | b'}' | b'<' | b'>' | b'|' | b'&'
            )
    };
    let length = bytes[start..]
        .iter()
        .take(MAX_VALUE + 1)
        .take_while(|&&b| !is_end(b))
        .count();
    if length > MAX_VALUE {
        return None;
    }
    let value = text.get(start..start + length)?;
    let length = value.trim_end_matches(['.', '*', ':', '?']).len();
    Some(start..start + length)
}

fn is_secret(value: &str) -> bool {
    !is_placeholder(value) && !is_reference(value) && has_mixed_part(value) && entropy(value) >= 3.0
}

/// Tells whether a value names a place where the secret is, instead of being it.
fn is_reference(value: &str) -> bool {
    let starts = value.starts_with(['$', '%', '{', '[', '(', '/', '~', '.', '@', '#', '\\', '!']);
    let calls = [
        "://", "${", "{{", "(", "env.", "environ", "process.", "secrets.", "vault:", "keychain",
    ]
    .iter()
    .any(|sign| value.contains(sign));
    let is_variable = value
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
        && value.contains('_');
    let is_file = value.rsplit_once('.').is_some_and(|(_, extension)| {
        (1..=5).contains(&extension.len()) && extension.bytes().all(|b| b.is_ascii_lowercase())
    });
    starts || calls || is_variable || is_file
}

/// Tells whether a value is made of words, as names in programs are: the sort of letter changes seldom.
fn is_identifier(value: &str) -> bool {
    let sort = |b: u8| {
        (
            b.is_ascii_uppercase(),
            b.is_ascii_lowercase(),
            b.is_ascii_digit(),
        )
    };
    let changes = value
        .as_bytes()
        .windows(2)
        .filter(|pair| sort(pair[0]) != sort(pair[1]))
        .count();
    let is_hex = value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    !is_hex && changes * 100 < value.len() * 36
}

/// Tells whether some part between separators mixes digits and letters, as generated values do and words do not.
fn has_mixed_part(value: &str) -> bool {
    value
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| part.len() >= 6 && super::randomness::has_digit_and_letter(part))
}
