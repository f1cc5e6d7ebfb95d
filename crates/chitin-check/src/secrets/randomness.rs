//! Telling a secret from a placeholder and from a word.

/// Words that people put where a secret belongs.
const PLACEHOLDER_WORDS: &[&str] = &[
    "xxxx",
    "example",
    "your",
    "placeholder",
    "redacted",
    "changeme",
    "change-me",
    "change_me",
    "dummy",
    "fake",
    "sample",
    "insert",
    "replace",
    "todo",
    "secret-here",
    "key-here",
    "token-here",
    "0000000",
    "deadbeef",
];

/// Tells whether a value is something that people write instead of a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    PLACEHOLDER_WORDS
        .iter()
        .any(|word| contains_ignoring_case(value, word))
        || has_run(value.as_bytes())
        || value.contains("...")
        || value.contains('…')
}

/// Tells whether letters are spread as in a generated value: enough different ones for the length.
pub(super) fn is_varied(value: &str) -> bool {
    let mut seen = [false; 256];
    let mut distinct = 0;
    for byte in value.bytes() {
        if !std::mem::replace(&mut seen[usize::from(byte)], true) {
            distinct += 1;
        }
    }
    // Hexadecimal has sixteen letters at most, of which a value of 32 shows thirteen or so.
    distinct >= (value.len() / 3).clamp(6, 10)
}

/// Tells whether digits and letters both occur.
pub(super) fn has_digit_and_letter(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Tells whether small and capital letters both occur.
pub(super) fn has_both_cases(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_lowercase()) && value.bytes().any(|b| b.is_ascii_uppercase())
}

/// Returns the information of a value in bits per byte, by how often each byte occurs.
#[expect(clippy::cast_precision_loss, reason = "values are short")]
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = count as f64 / length;
            -share * share.log2()
        })
        .sum()
}

/// Tells whether the same byte or a climbing sequence (`12345678`, `abcdefgh`) runs on for long.
fn has_run(bytes: &[u8]) -> bool {
    const SAME: usize = 6;
    const CLIMBING: usize = 8;
    let (mut same, mut climbing) = (1, 1);
    for pair in bytes.windows(2) {
        same = if pair[0] == pair[1] { same + 1 } else { 1 };
        let next = match pair[0] {
            b'9' => b'0',
            other => other.wrapping_add(1),
        };
        climbing = if pair[1] == next { climbing + 1 } else { 1 };
        if same >= SAME || climbing >= CLIMBING {
            return true;
        }
    }
    false
}

/// Searches without regard to the case of ASCII letters; `word` is in small letters.
pub(super) fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes()
        .windows(word.len())
        .any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
