//! `.env` files, as the releases read them (H47).

use regex::Regex;
use std::sync::LazyLock;

/// One assignment.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)^\s*(?:export\s+)?([A-Za-z0-9_.-]+)(?:\s*=\s*?|:\s+?)(\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\r\n]+)?\s*(?:#.*)?$"#,
    )
    .ok()
});

/// Returns what a file sets, in the order in which the names appear; the last value of a name counts.
pub(crate) fn parse(text: &str) -> Vec<(String, String)> {
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let mut found: Vec<(String, String)> = Vec::new();
    let Some(line) = LINE.as_ref() else {
        return found;
    };
    for captured in line.captures_iter(&text) {
        let name = captured.get(1).map_or("", |name| name.as_str());
        let value = value(captured.get(2).map_or("", |value| value.as_str()));
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => found.push((name.to_owned(), value)),
        }
    }
    found
}

fn value(written: &str) -> String {
    let written = written.trim();
    let inside = ['\'', '"', '`'].into_iter().find_map(|quote| {
        let inside = written.strip_prefix(quote)?.strip_suffix(quote)?;
        Some((quote, inside))
    });
    match inside {
        Some(('"', inside)) => inside.replace("\\n", "\n").replace("\\r", "\r"),
        Some((_, inside)) => inside.to_owned(),
        None => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn of(text: &str) -> Vec<(String, String)> {
        parse(text)
    }

    fn one(text: &str) -> String {
        let mut found = of(text);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0).1
    }

    #[test]
    fn values_are_read_as_the_releases_do() {
        for (text, value) in [
            ("A=plain", "plain"),
            ("export A=plain", "plain"),
            ("  A = spaced out  ", "spaced out"),
            ("A: yaml like", "yaml like"),
            ("A=North Pier # comment", "North Pier"),
            ("A=North#Pier", "North"),
            ("A='single # kept'", "single # kept"),
            ("A=\"double # kept\" # gone", "double # kept"),
            ("A=`back ' \" tick`", "back ' \" tick"),
            ("A=\"two\\nlines\"", "two\nlines"),
            ("A='no\\nexpansion'", "no\\nexpansion"),
            ("A=no\\nexpansion", "no\\nexpansion"),
            ("A='several\nlines'", "several\nlines"),
            ("A=", ""),
            ("A=x\r\n", "x"),
            ("A=1\nA=2", "2"),
            ("# A=0\nA=1", "1"),
            ("\u{feff}A=1", "1"),
        ] {
            assert_eq!(one(text), value, "{text:?}");
        }
    }

    #[test]
    fn an_empty_value_does_not_take_the_next_line() {
        let found = of("A=\nB=2\nexport C='3'");
        let found: Vec<(&str, &str)> = found.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(found, [("A", ""), ("B", "2"), ("C", "3")]);
    }
}
