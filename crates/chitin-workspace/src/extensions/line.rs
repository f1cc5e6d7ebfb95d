//! The line grammar that the extension files share (B11–B14).

use crate::adapter::text::{lines, strip};
use std::fmt;
use std::ops::Range;

/// Returns the lines that say something: one bullet dropped, stripped, neither empty nor starting with `#`.
pub fn statements(text: &str) -> impl Iterator<Item = &str> {
    lines(text)
        .map(|line| {
            let line = strip(line);
            let bare = ["- ", "* ", "+ "]
                .into_iter()
                .find_map(|bullet| line.strip_prefix(bullet));
            strip(bare.unwrap_or(line))
        })
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns what stands before and after the first colon, both stripped. A colon at the very beginning is no separator.
pub fn pair(statement: &str) -> Option<(&str, &str)> {
    match statement.split_once(':') {
        Some((key, value)) if !key.is_empty() => Some((strip(key), strip(value))),
        _ => None,
    }
}

/// Returns the `key: value` pairs of a text, keys in lower case, empty values left out.
pub(crate) fn settings(text: &str) -> impl Iterator<Item = (String, &str)> {
    statements(text)
        .filter_map(pair)
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_lowercase(), value))
}

/// Returns the bytes of `text` that `part`, a slice of it, covers.
pub fn span(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let start = start.min(text.len());
    start..(start + part.len()).min(text.len())
}

/// A place in a file. Lines and columns count from one, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// Finds the place of `part`, a slice of `text`. Lines end at LF, CR and CRLF.
    pub(crate) fn of(text: &str, part: &str) -> Self {
        let before = &text[..span(text, part).start];
        let begins = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let ends = before.matches(['\n', '\r']).count() - before.matches("\r\n").count();
        Self {
            line: ends + 1,
            column: before[begins..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bullet_goes_and_comments_and_empty_lines_are_nothing() {
        let text = "\u{2003}- a: 1\r* - b\n# c\n- # d\n\n-\n+ e:f:g\n: h";
        let found: Vec<_> = statements(text).collect();
        assert_eq!(found, ["a: 1", "- b", "-", "e:f:g", ": h"]);
        assert_eq!(pair("e:f:g"), Some(("e", "f:g")));
        assert_eq!(pair(": h"), None);
    }

    #[test]
    fn positions_count_all_three_line_ends_and_characters() {
        let text = "é\r\n\rä- x: y\n";
        let part = &text[text.find('y').unwrap()..text.len() - 1];
        assert_eq!(Position::of(text, part), Position { line: 3, column: 7 });
        assert_eq!(&text[span(text, part)], "y");
    }
}
