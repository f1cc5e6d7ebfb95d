//! Korean words and the particles that end them.

/// What may follow a noun. Longer ones first, so that the whole particle goes.
const PARTICLES: [&str; 25] = [
    "까지", "같이", "대로", "마다", "밖에", "보다", "부터", "에게", "에서", "으로", "처럼", "한테",
    "가", "과", "는", "도", "로", "를", "만", "에", "와", "은", "을", "의", "이",
];

/// Tells whether a character is a syllable of Korean.
pub(super) const fn is_syllable(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7af}')
}

/// Tells whether a character is Korean: a syllable or a letter of one.
pub(super) const fn is_korean(c: char) -> bool {
    is_syllable(c) || matches!(c, '\u{3131}'..='\u{3163}')
}

/// Returns a word without the particle at its end, if it has one and something is left.
pub(super) fn stem(word: &str) -> Option<&str> {
    PARTICLES
        .iter()
        .find_map(|particle| word.strip_suffix(particle))
        .filter(|stem| !stem.is_empty())
}

/// Tells whether a stem is worth looking for: two characters with a syllable among them, or a word of another script in ASCII.
pub(super) fn is_telling(stem: &str) -> bool {
    if stem.chars().any(is_syllable) {
        return stem.chars().nth(1).is_some();
    }
    !stem.is_empty()
        && stem
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
