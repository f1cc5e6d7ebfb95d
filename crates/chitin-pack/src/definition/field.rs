//! The rules that single members follow (rule P10).

use crate::error::{ErrorClass, PackError};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Longer names are nobody's.
const MAX_NAME: usize = 63;
/// Longer versions are nobody's; the format itself names no limit.
const MAX_VERSION: usize = 256;

/// The members of a definition, and what it is called in messages.
pub(super) type Members = Map<String, Value>;

pub(super) fn wrong(class: ErrorClass, message: impl Into<String>) -> PackError {
    PackError::new(class, message)
}

/// Tells whether a name follows the rule: small letters, digits, and `-` between them.
pub fn is_name(name: &str) -> bool {
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return false;
    };
    bytes.len() <= MAX_NAME
        && edge(*first)
        && edge(*last)
        && bytes.iter().all(|byte| edge(*byte) || *byte == b'-')
}

/// Tells whether a version is semantic: three numbers, then perhaps a pre-release, then perhaps a build.
pub fn is_version(version: &str) -> bool {
    if version.len() > MAX_VERSION {
        return false;
    }
    let (rest, build) = match version.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (version, None),
    };
    let (core, before) = match rest.split_once('-') {
        Some((core, before)) => (core, Some(before)),
        None => (rest, None),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let number = |part: &str| digits(part) && (part == "0" || !part.starts_with('0'));
    let word = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    core.split('.').count() == 3
        && core.split('.').all(number)
        && before.is_none_or(|before| {
            before
                .split('.')
                .all(|part| word(part) && (!digits(part) || number(part)))
        })
        && build.is_none_or(|build| build.split('.').all(word))
}

/// Returns a member that is there; `null` says as little as nothing.
pub(super) fn given<'v>(members: &'v Members, name: &str) -> Option<&'v Value> {
    members.get(name).filter(|value| !value.is_null())
}

pub(super) fn members<'v>(value: &'v Value, what: &str) -> Result<&'v Members, PackError> {
    value.as_object().ok_or_else(|| {
        wrong(
            ErrorClass::InvalidField,
            format!("{what} is not a JSON object"),
        )
    })
}

/// Checks a member that must be a text; one that is not there is as wrong as an empty one.
pub(super) fn name(members: &Members, member: &str) -> Result<(), PackError> {
    match given(members, member).and_then(Value::as_str) {
        Some(name) if is_name(name) => Ok(()),
        found => Err(invalid_name(found.unwrap_or_default())),
    }
}

pub(super) fn invalid_name(name: &str) -> PackError {
    wrong(
        ErrorClass::InvalidName,
        format!("`{}` is not a name", shown(name)),
    )
    .hint("use 1 to 63 small letters, digits and `-`, with a letter or digit at both ends")
}

pub(super) fn version(members: &Members) -> Result<(), PackError> {
    match given(members, "version").and_then(Value::as_str) {
        Some(version) if is_version(version) => Ok(()),
        found => Err(wrong(
            ErrorClass::InvalidVersion,
            format!(
                "`{}` is not a semantic version",
                shown(found.unwrap_or_default())
            ),
        )
        .hint("write three numbers, as in `1.0.0`")),
    }
}

pub(super) fn filled(members: &Members, member: &str) -> Result<(), PackError> {
    match given(members, member) {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        None | Some(Value::String(_)) => Err(wrong(
            ErrorClass::EmptyField,
            format!("`{member}` says nothing"),
        )),
        Some(_) => Err(wrong(
            ErrorClass::InvalidField,
            format!("`{member}` is not a text"),
        )),
    }
}

/// Checks that a member, if it is there, is a text.
pub(super) fn text(members: &Members, member: &str) -> Result<(), PackError> {
    match given(members, member) {
        None | Some(Value::String(_)) => Ok(()),
        Some(_) => Err(wrong(
            ErrorClass::InvalidField,
            format!("`{member}` is not a text"),
        )),
    }
}

/// Returns a member that is a list; none is an empty one.
pub(super) fn list<'v>(members: &'v Members, member: &str) -> Result<&'v [Value], PackError> {
    match given(members, member) {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(wrong(
            ErrorClass::InvalidField,
            format!("`{member}` is not a list"),
        )),
    }
}

/// Checks that a member, if it is there, is one of a few words.
pub(super) fn one_of(value: Option<&Value>, what: &str, words: &[&str]) -> Result<(), PackError> {
    match value {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
        Some(other) => Err(wrong(
            ErrorClass::InvalidEnum,
            format!("`{what}` cannot be `{}`", shown(&other.to_string())),
        )
        .hint(format!("use one of: {}", words.join(", ")))),
    }
}

/// Checks that texts differ from each other.
pub(super) fn unique<'t>(
    texts: impl IntoIterator<Item = &'t str>,
    class: ErrorClass,
    what: &str,
) -> Result<(), PackError> {
    let mut seen = HashSet::new();
    for text in texts {
        if !seen.insert(text) {
            let message = format!("{what} `{}` stands twice", shown(text));
            return Err(wrong(class, message).about([text]));
        }
    }
    Ok(())
}

/// As much of a text as a message should hold.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(80).collect();
    start.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_letters_digits_and_dashes_inside() {
        let long = "a".repeat(63);
        for name in ["a", "a1", "tide-tables", "0", long.as_str()] {
            assert!(is_name(name), "{name}");
        }
        let longer = "a".repeat(64);
        for name in ["", "-a", "a-", "A", "a b", "a_b", "ä", longer.as_str()] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn versions_are_semantic() {
        for version in [
            "0.0.0",
            "1.2.3",
            "1.0.0-rc.1+b5",
            "1.0.0+01.x",
            "1.0.0--",
            "1.0.0-0a",
            "1.0.0-a-b.0",
        ] {
            assert!(is_version(version), "{version}");
        }
        for version in [
            "",
            "1",
            "1.0",
            "v1.0.0",
            "1.02.0",
            "1.0.0-",
            "1.0.0+",
            "1.0.0-01",
            "1.0.0-a..b",
            "1.0.0.0",
            "1.0.0 ",
            "1.0.0-ä",
            "1.0.0+a+b",
        ] {
            assert!(!is_version(version), "{version}");
        }
    }
}
