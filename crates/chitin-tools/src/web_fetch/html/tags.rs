//! Finding tags in HTML.

use super::entities::decode;

/// A tag that is longer is none. Pictures may be written into tags, so some are long.
const LONGEST_TAG: usize = 1024 * 1024;

/// One tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag<'a> {
    /// A comment or a declaration.
    Nothing,
    /// The beginning of an element.
    Open {
        /// Its name, in lower case.
        name: String,
        /// What stands behind the name.
        attributes: &'a str,
        /// Whether the tag says that the element ends with it.
        is_closed: bool,
    },
    /// The end of an element.
    Close {
        /// Its name, in lower case.
        name: String,
    },
}

/// Elements that have no end.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// Finds the next tag: the text before it, the tag, and what follows. A `<` that begins no tag is text.
pub(super) fn next_tag(text: &str) -> Option<(&str, Tag<'_>, &str)> {
    let mut from = 0;
    loop {
        let start = from + memchr::memchr(b'<', text.get(from..)?.as_bytes())?;
        let inside = &text[start + 1..];
        let first = *inside.as_bytes().first()?;
        if matches!(first, b'!' | b'?') {
            let (tag, after) = skip_declaration(inside);
            return Some((&text[..start], tag, after));
        }
        if !(first == b'/' || first.is_ascii_alphabetic()) {
            from = start + 1;
            continue;
        }
        let Some(end) = tag_end(inside) else {
            // Whatever begins before there does not end before there either: all of it is text.
            from = start + 1 + inside.floor_char_boundary(LONGEST_TAG);
            continue;
        };
        let tag = match inside[..end].strip_prefix('/') {
            Some(name) => Tag::Close {
                name: name.trim().to_ascii_lowercase(),
            },
            None => open(&inside[..end]),
        };
        return Some((&text[..start], tag, &inside[end + 1..]));
    }
}

fn skip_declaration(inside: &str) -> (Tag<'_>, &str) {
    let end = if inside.starts_with("!--") {
        inside.find("-->").map(|at| at + 3)
    } else {
        inside.find('>').map(|at| at + 1)
    };
    // One that does not end hides the rest, as in a browser.
    (Tag::Nothing, &inside[end.unwrap_or(inside.len())..])
}

/// Returns where the `>` of a tag is; one in quotes is none.
fn tag_end(inside: &str) -> Option<usize> {
    let bytes = &inside.as_bytes()[..inside.len().min(LONGEST_TAG)];
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', bytes.get(at..)?)?;
        let found = *bytes.get(at)?;
        if found == b'>' {
            return Some(at);
        }
        // Quotes only count where a value begins.
        let is_value = bytes[..at].trim_ascii_end().ends_with(b"=");
        at += 1;
        if is_value {
            at += memchr::memchr(found, bytes.get(at..)?)? + 1;
        }
    }
}

fn open(inside: &str) -> Tag<'_> {
    let end = inside
        .find(|c: char| c.is_ascii_whitespace() || c == '/')
        .unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    let attributes = inside[end..].trim_end();
    Tag::Open {
        is_closed: attributes.ends_with('/') || VOID.contains(&name.as_str()),
        name,
        attributes,
    }
}

/// Returns what an element holds, and what follows its end. One that does not end holds the rest.
pub(super) fn skip_element<'a>(name: &str, rest: &'a str) -> (&'a str, &'a str) {
    if VOID.contains(&name) {
        return ("", rest);
    }
    // In scripts and styles a `<` is no tag; everywhere else elements of one name may be nested.
    let nests = !matches!(
        name,
        "script" | "style" | "title" | "textarea" | "noscript" | "iframe"
    );
    let mut depth = 1;
    let mut from = 0;
    while let Some(at) = rest
        .get(from..)
        .and_then(|rest| memchr::memchr(b'<', rest.as_bytes()))
    {
        let start = from + at;
        let inside = &rest[start + 1..];
        from = start + 1;
        if let Some(closing) = inside.strip_prefix('/')
            && is_named(closing, name)
        {
            depth -= 1;
            if depth == 0 {
                let end = inside
                    .find('>')
                    .map_or(rest.len(), |end| start + 1 + end + 1);
                return (&rest[..start], &rest[end..]);
            }
        } else if nests && is_named(inside, name) {
            depth += 1;
        }
    }
    (rest, "")
}

fn is_named(text: &str, name: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > name.len()
        && bytes[..name.len()].eq_ignore_ascii_case(name.as_bytes())
        && matches!(
            bytes[name.len()],
            b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r'
        )
}

/// Tells whether a page hides an element.
pub(super) fn is_hidden(name: &str, attributes: &str) -> bool {
    if attributes.is_empty() || matches!(name, "html" | "body") {
        return false;
    }
    let lower = attributes.to_ascii_lowercase();
    if !lower.contains("hidden") && !lower.contains("none") {
        return false;
    }
    let style: String = attribute(attributes, "style")
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect::<String>()
        .to_ascii_lowercase();
    attribute(attributes, "hidden").is_some()
        || attribute(attributes, "aria-hidden").is_some_and(|value| value == "true")
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

/// Returns the value of an attribute; one without a value is empty.
pub(super) fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/')
            .unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = if let Some(quote) = quote {
                after[1..].split_once(quote).unwrap_or((&after[1..], ""))
            } else {
                let end = after.find(|c: char| c.is_ascii_whitespace());
                after.split_at(end.unwrap_or(after.len()))
            };
        }
        if name.eq_ignore_ascii_case(wanted) {
            return Some(decode(value).into_owned());
        }
    }
}
