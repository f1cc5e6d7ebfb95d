//! Text measured and trimmed as the recorded programs do it.
//!
//! Limits of the OpenClaw contracts count UTF-16 code units ("units") and trim the white space of ECMAScript, which is
//! neither Rust's nor ASCII's set.

/// Tells whether `c` is in the trim set of ECMAScript.
pub const fn is_js_whitespace(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// Removes ECMAScript white space from both ends.
pub fn trim_js(text: &str) -> &str {
    text.trim_matches(is_js_whitespace)
}

/// Removes ECMAScript white space from the end.
pub fn trim_end_js(text: &str) -> &str {
    text.trim_end_matches(is_js_whitespace)
}

/// Tells whether nothing but ECMAScript white space is there.
pub fn is_blank_js(text: &str) -> bool {
    text.chars().all(is_js_whitespace)
}

/// How many bytes are counted in one go: few enough that the count fits a byte, so that whole registers are added.
const STRIDE: usize = 64;

/// Returns the units that a byte of UTF-8 begins: none inside a character, two where four bytes begin, else one.
const fn units_begun(byte: u8) -> u8 {
    (byte & 0xc0 != 0x80) as u8 + (byte >= 0xf0) as u8
}

fn units_begun_in(bytes: &[u8; STRIDE]) -> usize {
    usize::from(
        bytes
            .iter()
            .fold(0, |sum: u8, &byte| sum + units_begun(byte)),
    )
}

/// Returns the length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    let (strides, rest) = text.as_bytes().as_chunks::<STRIDE>();
    let rest: usize = rest
        .iter()
        .map(|&byte| usize::from(units_begun(byte)))
        .sum();
    strides.iter().map(units_begun_in).sum::<usize>() + rest
}

/// Returns the longest prefix of at most `units` UTF-16 code units that does not split a character.
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    // No character has more units than bytes.
    if text.len() <= units {
        return text;
    }
    let bytes = text.as_bytes();
    let mut left = units;
    let mut at = 0;
    for stride in bytes.as_chunks::<STRIDE>().0 {
        let Some(after) = left.checked_sub(units_begun_in(stride)) else {
            break;
        };
        left = after;
        at += STRIDE;
    }
    for (at, &byte) in bytes.iter().enumerate().skip(at) {
        match left.checked_sub(usize::from(units_begun(byte))) {
            Some(after) => left = after,
            None => return &text[..at],
        }
    }
    text
}

/// Returns the longest suffix of at most `units` UTF-16 code units that does not split a character.
pub fn utf16_suffix(text: &str, units: usize) -> &str {
    if text.len() <= units {
        return text;
    }
    let bytes = text.as_bytes();
    let mut left = units;
    let mut end = bytes.len();
    for stride in bytes.as_rchunks::<STRIDE>().1.iter().rev() {
        let Some(after) = left.checked_sub(units_begun_in(stride)) else {
            break;
        };
        left = after;
        end -= STRIDE;
    }
    for (at, &byte) in bytes[..end].iter().enumerate().rev() {
        match left.checked_sub(usize::from(units_begun(byte))) {
            Some(after) => left = after,
            // The first character that does not fit begins here; what is wanted begins after it.
            None => return &text[text.ceil_char_boundary(at + 1)..],
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn trims_the_ecmascript_set_and_nothing_else() {
        assert_eq!(trim_js("\u{feff}\u{a0} x\u{85}\u{3000}"), "x\u{85}");
        assert_eq!(trim_js("\u{200b}x\u{180e}"), "\u{200b}x\u{180e}");
    }

    #[test]
    fn counts_and_cuts_in_utf16_units() {
        assert_eq!(utf16_len("a😀b"), 4);
        assert_eq!(utf16_prefix("a😀b", 2), "a");
        assert_eq!(utf16_prefix("a😀b", 3), "a😀");
        assert_eq!(utf16_suffix("a😀b", 2), "b");
        assert_eq!(utf16_suffix("a😀b", 3), "😀b");
        assert_eq!(utf16_suffix("a😀b", 0), "");
    }

    fn naive_len(text: &str) -> usize {
        text.chars().map(char::len_utf16).sum()
    }

    /// Every place to cut, tried.
    fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> {
        (0..=text.len()).filter(|&at| text.is_char_boundary(at))
    }

    proptest! {
        // Long enough to cross several strides, mixed enough that strides begin inside characters.
        #[test]
        fn agrees_with_counting_character_by_character(
            text in "([a-z]{0,80}|[é語😀\\x00\u{ffff}\u{10ffff}]{0,50}|.{0,9}){0,6}",
            units in 0usize..400,
        ) {
            prop_assert_eq!(utf16_len(&text), naive_len(&text));
            let prefix = cuts(&text).rev().map(|at| &text[..at]).find(|part| naive_len(part) <= units);
            prop_assert_eq!(Some(utf16_prefix(&text, units)), prefix);
            let suffix = cuts(&text).map(|at| &text[at..]).find(|part| naive_len(part) <= units);
            prop_assert_eq!(Some(utf16_suffix(&text, units)), suffix);
        }
    }
}
