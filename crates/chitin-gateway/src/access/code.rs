//! Short codes that somebody is told and the owner types: eight letters and digits, none of which looks like another.

use sha2::{Digest, Sha256};

/// What codes are made of: 32 signs, so that five random bits are one of them.
const SIGNS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How long a code is.
pub(super) const LENGTH: usize = 8;

/// Makes a code that nobody can guess; nothing when the machine gives no randomness.
pub(super) fn draw() -> Option<String> {
    let mut bytes = [0_u8; LENGTH];
    getrandom::fill(&mut bytes).ok()?;
    let signs = bytes.map(|byte| char::from(SIGNS[usize::from(byte) % SIGNS.len()]));
    Some(signs.iter().collect())
}

/// Reads a code as somebody types it: case, blanks and dashes do not count. Nothing when it cannot be one.
pub(super) fn typed(text: &str) -> Option<String> {
    let signs = text.chars().filter(|c| !c.is_whitespace() && *c != '-');
    let code: String = signs
        .take(LENGTH + 1)
        .collect::<String>()
        .to_ascii_uppercase();
    let known = code.bytes().all(|sign| SIGNS.contains(&sign));
    (code.len() == LENGTH && known).then_some(code)
}

/// Compares two codes in a time that says nothing about where they differ.
pub(super) fn same(one: &str, other: &str) -> bool {
    let differing = one
        .bytes()
        .zip(other.bytes())
        .fold(0_u8, |differing, (one, other)| differing | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differing) == 0
}

/// Returns what is kept of a code that was given out.
pub(super) fn trace(code: &str) -> String {
    hex::encode(&Sha256::digest(code)[..8])
}
