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

/// Returns the length in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns the longest prefix of at most `units` UTF-16 code units that does not split a character.
pub fn utf16_prefix(text: &str, units: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > units {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
