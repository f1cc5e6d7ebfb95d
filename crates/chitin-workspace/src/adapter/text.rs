//! Text cut and trimmed as Java does it, because the recorded bridge is a Java program.
//!
//! There are two kinds of trimming: *trim* takes off every character up to U+0020, *strip* takes off Unicode white space
//! except the no-break kinds. The first keeps an em space, the second keeps U+0001.

/// Tells whether `c` is white space to Java: separators but not the no-break ones, and nine control characters.
pub const fn is_white_space(c: char) -> bool {
    matches!(
        c,
        '\u{9}'..='\u{d}'
            | '\u{1c}'..='\u{20}'
            | '\u{1680}'
            | '\u{2000}'..='\u{2006}'
            | '\u{2008}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{205f}'
            | '\u{3000}'
    )
}

/// Tells whether nothing but white space is there.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// Removes characters up to U+0020 from both ends.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Removes Unicode white space from both ends.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_white_space)
}

/// Splits at LF, CR and CRLF. The text after the last line end is a line only when it is not empty.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
            return Some(std::mem::take(&mut rest));
        };
        let after = if bytes[end..].starts_with(b"\r\n") {
            end + 2
        } else {
            end + 1
        };
        let line = &rest[..end];
        rest = &rest[after..];
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_kinds_of_trimming_differ_at_both_ends_of_unicode() {
        assert_eq!(trim("\u{1} x\u{2003}"), "x\u{2003}");
        assert_eq!(strip("\u{1} x\u{2003}"), "\u{1} x");
        assert!(is_blank("\u{2003}\u{3000}\u{1f}"));
        assert!(!is_blank("\u{a0}"), "a no-break space is something to Java");
    }

    #[test]
    fn lines_end_at_all_three_line_ends() {
        let split: Vec<_> = lines("a\rb\r\nc\n\nd").collect();
        assert_eq!(split, ["a", "b", "c", "", "d"]);
        assert_eq!(lines("a\n").count(), 1);
        assert_eq!(lines("").count(), 0);
    }
}
