//! What characters count, in UTF-16 units or more.

use chitin_contract::CharacterWeights;
use chitin_protocol::text::utf16_prefix;

/// Characters from, to, and what each of them counts.
type Range = (u32, u32, u32);

/// Scripts without spaces: about a token each, and a token is counted as four.
const PLAIN: [Range; 4] = [
    (0x2e80, 0xa4ff, 4),
    (0xac00, 0xd7af, 4),
    (0xf900, 0xfaff, 4),
    (0x2_0000, 0x2_fa1f, 4),
];

/// The same with the rarer ones at two to four tokens.
const GRADED: [Range; 28] = [
    (0xb7, 0xb7, 4),
    (0x2c7, 0x2c7, 8),
    (0x2c9, 0x2cb, 8),
    (0x2d9, 0x2d9, 8),
    (0x2ea, 0x2eb, 8),
    (0x305, 0x305, 8),
    (0x323, 0x323, 8),
    (0x1100, 0x11ff, 12),
    (0x2e80, 0x2fff, 12),
    (0x3000, 0x319f, 4),
    (0x31a0, 0x4dff, 12),
    (0x4e00, 0x9fa5, 4),
    (0x9fa6, 0xa4ff, 12),
    (0xa700, 0xa707, 12),
    (0xa960, 0xa97f, 12),
    (0xac00, 0xd7af, 4),
    (0xd7b0, 0xd7ff, 12),
    (0xf900, 0xfaff, 12),
    (0xfe10, 0xfe4f, 8),
    (0xff01, 0xff60, 4),
    (0xff61, 0xffdc, 8),
    (0xffe0, 0xffe6, 8),
    (0x1_6fe0, 0x1_6fff, 16),
    (0x1_aff0, 0x1_b16f, 16),
    (0x1_d360, 0x1_d371, 12),
    (0x1_f200, 0x1_f2ff, 16),
    (0x2_0000, 0x2_fa1f, 16),
    (0x3_0000, 0x3_347f, 16),
];

/// What is below both tables counts its units.
const FIRST_HEAVY: char = '\u{b7}';

/// Returns what one character counts.
pub(super) fn of_char(c: char, weights: CharacterWeights) -> usize {
    let units = c.len_utf16();
    if c < FIRST_HEAVY {
        return units;
    }
    let table: &[Range] = match weights {
        CharacterWeights::Plain => &PLAIN,
        CharacterWeights::Graded => &GRADED,
    };
    let code = u32::from(c);
    let at = table.partition_point(|&(_, last, _)| last < code);
    match table.get(at) {
        Some(&(first, _, weight)) if first <= code => weight as usize,
        _ => units,
    }
}

/// Returns what a text counts.
pub(super) fn of_text(text: &str, weights: CharacterWeights) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(|c| of_char(c, weights)).sum()
}

/// Returns the longest beginning that counts at most `limit`, and at least one character.
pub(super) fn prefix(text: &str, limit: usize, weights: CharacterWeights) -> &str {
    if text.len() <= limit && text.is_ascii() {
        return text;
    }
    let mut sum = 0;
    for (at, c) in text.char_indices() {
        sum += of_char(c, weights);
        if sum > limit && at > 0 {
            return &text[..at];
        }
    }
    text
}

/// Returns the longest end that counts at most `limit`.
pub(super) fn suffix(text: &str, limit: usize, weights: CharacterWeights) -> &str {
    let mut sum = 0;
    for (at, c) in text.char_indices().rev() {
        sum += of_char(c, weights);
        if sum > limit {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// Returns a beginning of `units` UTF-16 units, one more if that would split a character.
pub(super) fn step(text: &str, units: usize) -> &str {
    let mut sum = 0;
    for (at, c) in text.char_indices() {
        if sum >= units && at > 0 {
            return &text[..at];
        }
        sum += c.len_utf16();
    }
    text
}

/// Returns a beginning of at most `units` UTF-16 units, and at least one character.
pub(super) fn units_prefix(text: &str, units: usize) -> &str {
    let found = utf16_prefix(text, units);
    if found.is_empty() {
        return step(text, 1);
    }
    found
}
