//! Secrets that are recognised by their own form, wherever they stand.

use super::randomness::{has_both_cases, has_digit_and_letter, is_placeholder, is_varied};
use super::shapes::{Alphabet, SHAPES, Shape};
use super::{MAX_SECRETS, Secret, SecretKind};
use std::ops::Range;

/// Shorter tokens hold no key of any provider; nearly all words are shorter.
const MIN_TOKEN: usize = 16;

/// Whether each byte may be part of a token.
static TOKEN_BYTES: [bool; 256] = token_bytes();

const fn token_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = Alphabet::Token.has(byte);
        byte += 1;
    }
    table
}

fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES[usize::from(byte)]
}

pub(super) fn scan(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    // A token that begins here and is long enough is still one at its last needed byte: look there first, and backwards.
    let mut start = 0;
    while start + MIN_TOKEN <= bytes.len() && found.len() < MAX_SECRETS {
        let window = &bytes[start..start + MIN_TOKEN];
        if let Some(gap) = window.iter().rposition(|&b| !is_token_byte(b)) {
            start += gap + 1;
            continue;
        }
        let more = bytes[start + MIN_TOKEN..]
            .iter()
            .take_while(|&&b| is_token_byte(b))
            .count();
        let end = start + MIN_TOKEN + more;
        judge(text, start..end, found);
        start = end + 1;
    }
}

fn judge(text: &str, token: Range<usize>, found: &mut Vec<Secret>) {
    let special = web_token(text, &token)
        .or_else(|| telegram(text, &token))
        .or_else(|| discord(text, &token))
        .or_else(|| sendgrid(text, &token));
    if let Some(secret) = special {
        found.push(secret);
        return;
    }
    // Emphasis marks of Markdown are token letters too.
    let trimmed = text[token.clone()].trim_end_matches(['_', '-']);
    let token = token.start..token.start + trimmed.len();
    if let Some(secret) = aws(text, &token) {
        let end = secret.span.end;
        found.push(secret);
        found.extend(aws_neighbour(text, end));
        return;
    }
    found.extend(shaped(text, &token));
}

/// Looks for a known prefix at the beginning of a token, or behind a separator inside it.
fn shaped(text: &str, token: &Range<usize>) -> Option<Secret> {
    let bytes = text.as_bytes();
    let mut start = token.start;
    loop {
        let rest = &text[start..token.end];
        if rest.len() < MIN_TOKEN {
            return None;
        }
        if let Some(shape) = SHAPES.iter().find(|shape| rest.starts_with(shape.prefix)) {
            // A two-letter prefix says too little in the middle of something else.
            let plausible = start == token.start || shape.prefix.len() > 3;
            if plausible && fits(shape, &rest[shape.prefix.len()..]) {
                return Some(Secret::new(
                    SecretKind::Key,
                    start..token.end,
                    shape.what,
                    show(shape.prefix, rest),
                ));
            }
        }
        let separator = bytes[start..token.end]
            .iter()
            .position(|&b| b == b'_' || b == b'-')?;
        start += separator + 1;
    }
}

fn fits(shape: &Shape, body: &str) -> bool {
    // First of all: what follows reads the whole body.
    if !(shape.min..=shape.max).contains(&body.len()) {
        return false;
    }
    let varied = is_varied(body) && !is_placeholder(body);
    let mixed = has_digit_and_letter(body) || has_both_cases(body);
    // Dashes are rare in generated values and frequent in names made of words.
    let words = body.bytes().filter(|&b| b == b'-').count() * 6 > body.len()
        && !body.bytes().any(|b| b.is_ascii_uppercase());
    body.bytes().all(|byte| shape.alphabet.has(byte)) && varied && mixed && !words
}

fn show(prefix: &str, whole: &str) -> String {
    format!("{prefix}…{}", &whole[whole.len() - 2..])
}

fn web_token(text: &str, token: &Range<usize>) -> Option<Secret> {
    if !text[token.clone()].starts_with("eyJ") {
        return None;
    }
    let payload = next_part(text, token.end)?;
    let signature = next_part(text, payload.end)?;
    let is_token = text[payload.clone()].starts_with("eyJ")
        && payload.len() >= MIN_TOKEN
        && signature.len() >= MIN_TOKEN
        && is_varied(&text[signature.clone()]);
    let span = token.start..signature.end;
    is_token.then(|| {
        let shown = show("eyJ", &text[span.clone()]);
        Secret::new(SecretKind::WebToken, span, "a JSON Web Token", shown)
    })
}

fn telegram(text: &str, token: &Range<usize>) -> Option<Secret> {
    let body = &text[token.clone()];
    if body.len() != 35 || !has_both_cases(body) || !is_varied(body) || is_placeholder(body) {
        return None;
    }
    let before = text[..token.start].strip_suffix(':')?;
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let start = before.len() - digits;
    let in_front = before.as_bytes()[..start].last();
    let bounded =
        in_front.is_none_or(|b| !b.is_ascii_alphanumeric()) || before[..start].ends_with("bot");
    ((8..=10).contains(&digits) && bounded).then(|| {
        let shown = format!("…:…{}", &body[body.len() - 2..]);
        Secret::new(
            SecretKind::Key,
            start..token.end,
            "a Telegram bot token",
            shown,
        )
    })
}

fn discord(text: &str, token: &Range<usize>) -> Option<Secret> {
    let id = &text[token.clone()];
    if !(23..=28).contains(&id.len()) || !is_encoded_number(id) {
        return None;
    }
    let time = next_part(text, token.end)?;
    let signature = next_part(text, time.end)?;
    let is_token = (5..=7).contains(&time.len())
        && (27..=40).contains(&signature.len())
        && is_varied(&text[signature.clone()]);
    let span = token.start..signature.end;
    is_token.then(|| {
        let shown = show("", &text[span.clone()]);
        Secret::new(SecretKind::Key, span, "a Discord bot token", shown)
    })
}

/// The first part of a Discord token is a number in decimal, encoded.
fn is_encoded_number(part: &str) -> bool {
    crate::base64::decode(part)
        .is_some_and(|bytes| bytes.len() >= 17 && bytes.iter().all(u8::is_ascii_digit))
}

fn sendgrid(text: &str, token: &Range<usize>) -> Option<Secret> {
    let before = text[..token.start].strip_suffix("SG.")?;
    if before
        .bytes()
        .next_back()
        .is_some_and(|b| b.is_ascii_alphanumeric())
    {
        return None;
    }
    let body = next_part(text, token.end)?;
    let whole = &text[token.start..body.end];
    let fits = (20..=24).contains(&token.len())
        && (40..=50).contains(&body.len())
        && is_varied(whole)
        && !is_placeholder(whole);
    fits.then(|| {
        let shown = show("SG.", whole);
        Secret::new(
            SecretKind::Key,
            before.len()..body.end,
            "a SendGrid key",
            shown,
        )
    })
}

fn aws(text: &str, token: &Range<usize>) -> Option<Secret> {
    let id = &text[token.clone()];
    let prefix = ["AKIA", "ASIA"]
        .into_iter()
        .find(|prefix| id.starts_with(prefix))?;
    let fits = id.len() == 20
        && id
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && is_varied(id)
        && !is_placeholder(id);
    fits.then(|| {
        Secret::new(
            SecretKind::Key,
            token.clone(),
            "an AWS access key",
            show(prefix, id),
        )
    })
}

/// Looks for the secret half of an AWS key shortly after its public half.
fn aws_neighbour(text: &str, after: usize) -> Option<Secret> {
    const NEAR: usize = 400;
    const LENGTH: usize = 40;
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b == b'/' || b == b'+';
    let bytes = text.as_bytes();
    let limit = bytes.len().min(after + NEAR);
    let mut at = after;
    while at < limit {
        let length = bytes[at..].iter().take_while(|&&b| is_letter(b)).count();
        if length == LENGTH {
            let value = &text[at..at + length];
            if has_both_cases(value) && has_digit_and_letter(value) && !is_placeholder(value) {
                let shown = show("", value);
                return Some(Secret::new(
                    SecretKind::Key,
                    at..at + length,
                    "an AWS secret key",
                    shown,
                ));
            }
        }
        at += length + 1;
    }
    None
}

/// Returns the token behind a dot.
fn next_part(text: &str, end: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(end..)?;
    if *rest.first()? != b'.' {
        return None;
    }
    let length = rest[1..].iter().take_while(|&&b| is_token_byte(b)).count();
    (length > 0).then(|| end + 1..end + 1 + length)
}
