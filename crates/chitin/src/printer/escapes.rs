//! What a terminal gets: text of workspaces, skills and transcripts has nothing in it that a terminal obeys.

use super::plain_char;

/// What stands where a control character was.
const CONTROL: char = '\u{fffd}';

/// Whether the program's own colours are in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Styles {
    /// Colours are obeyed, and nothing else. None of them hides anything.
    Kept,
    /// Nothing is.
    None,
}

/// Takes out what a terminal would obey, but for line ends and tabs.
pub(super) fn harmless(text: &str, styles: Styles) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let style = match (c, styles) {
            ('\u{1b}', Styles::Kept) => style_at(rest),
            _ => None,
        };
        if let Some(style) = style {
            out.push_str(style);
            rest = &rest[style.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' | '\t' => out.push(c),
            '\r' if rest.starts_with('\n') => {}
            c => out.push(plain_char(c, CONTROL)),
        }
    }
    out
}

/// Returns the colour that a text begins with: `ESC [ … m` with the numbers that the program itself uses.
fn style_at(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("\u{1b}[")?;
    let end = inner.find('m').filter(|end| *end <= 16)?;
    let sound = inner[..end].split(';').all(|code| {
        matches!(
            code,
            "" | "0" | "1" | "2" | "3" | "4" | "7" | "9" | "22" | "23" | "24" | "27" | "29" | "39"
        ) || matches!(code.parse(), Ok(31_u8..=37 | 90..=97))
    });
    sound.then(|| &text[..end + 3])
}

/// JSON for a terminal: the controls that JSON lets stand are written as escapes, so it means the same.
pub(super) fn harmless_json(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || plain_char(c, CONTROL) == c {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Styles, harmless, harmless_json};

    #[test]
    fn only_colours_line_ends_and_tabs_are_obeyed() {
        let text = "a\u{1b}[31mred\u{1b}[0m\t\u{1b}[2J\u{1b}[8mhidden\u{1b}]0;title\u{7}\u{9b}1A\u{202e}é\r\nb\rc\n";
        assert_eq!(
            harmless(text, Styles::Kept),
            "a\u{1b}[31mred\u{1b}[0m\t\u{fffd}[2J\u{fffd}[8mhidden\u{fffd}]0;title\u{fffd}\u{fffd}1A\u{fffd}é\nb\u{fffd}c\n"
        );
        assert!(!harmless(text, Styles::None).contains('\u{1b}'));
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"a": "x\u{9b}31m\u{7f}\u{202e}é\n"});
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        let shown = harmless_json(&text);
        assert!(!shown.contains(['\u{9b}', '\u{7f}', '\u{202e}']));
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&shown).ok(),
            Some(value)
        );
    }
}
