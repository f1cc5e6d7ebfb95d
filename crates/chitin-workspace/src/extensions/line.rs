//! The line grammar that the extension files share (B11–B14).

use crate::adapter::text::{lines, strip};

/// Returns the lines that say something: one bullet dropped, stripped, neither empty nor starting with `#`.
pub(super) fn statements(text: &str) -> impl Iterator<Item = &str> {
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
pub(super) fn pair(statement: &str) -> Option<(&str, &str)> {
    match statement.split_once(':') {
        Some((key, value)) if !key.is_empty() => Some((strip(key), strip(value))),
        _ => None,
    }
}

/// Returns the `key: value` pairs of a text, keys in lower case, empty values left out.
pub(super) fn settings(text: &str) -> impl Iterator<Item = (String, &str)> {
    statements(text)
        .filter_map(pair)
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| (key.to_lowercase(), value))
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
}
