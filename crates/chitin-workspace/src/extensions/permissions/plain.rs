//! Expressions of which it is plain to see that they are well formed and small: letters, digits, a few classes, counts.
//!
//! `chitin check` only wants to know whether the engine takes an expression. Compiling one touches most of the engine, and that
//! is a good part of what a short command costs; so what people usually write is recognised without it.

/// The longest expression that is looked at.
const MAX_LENGTH: usize = 128;
/// The highest count that is taken.
const MAX_COUNT: u32 = 32;

/// Tells whether an expression is a sequence of plain characters, plain classes and word boundaries, each repeated at most a
/// few times, without groups and choices.
pub(super) fn is_plain(expression: &str) -> bool {
    if expression.len() > MAX_LENGTH {
        return false;
    }
    let mut rest = expression;
    let mut any = false;
    while !rest.is_empty() {
        let Some((behind, repeatable)) = atom(rest) else {
            return false;
        };
        rest = behind;
        if repeatable {
            let Some(behind) = count(rest) else {
                return false;
            };
            rest = behind;
        }
        any = true;
    }
    any
}

/// Takes one thing; tells whether it may be repeated.
fn atom(rest: &str) -> Option<(&str, bool)> {
    let first = rest.chars().next()?;
    let behind = &rest[first.len_utf8()..];
    match first {
        '\\' => match behind.as_bytes().first()? {
            b'd' | b'w' | b's' | b'.' | b'-' | b'/' => Some((&behind[1..], true)),
            // With a brace behind it, it is something else.
            b'b' if !behind[1..].starts_with('{') => Some((&behind[1..], false)),
            _ => None,
        },
        '[' => {
            let end = behind.find(']')?;
            class(&behind[..end]).then_some((&behind[end + 1..], true))
        }
        c if is_literal(c) => Some((behind, true)),
        _ => None,
    }
}

fn is_literal(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | ':' | ',' | '/' | '@' | '\'' | '"')
}

/// Tells whether the inside of a class is a few characters and usual ranges.
fn class(mut inside: &str) -> bool {
    let is_empty = inside.is_empty();
    while !inside.is_empty() {
        let range = ["a-z", "A-Z", "0-9"]
            .iter()
            .find_map(|range| inside.strip_prefix(range));
        let one = || {
            inside.strip_prefix(|c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '.'))
        };
        // A hyphen is a plain one only at the end.
        let hyphen = || inside.strip_prefix('-').filter(|behind| behind.is_empty());
        match range.or_else(hyphen).or_else(one) {
            Some(behind) => inside = behind,
            None => return false,
        }
    }
    !is_empty
}

/// Takes what repeats a thing, if anything does.
fn count(rest: &str) -> Option<&str> {
    if let Some(behind) = rest.strip_prefix(['*', '+', '?']) {
        return is_over(behind).then_some(behind);
    }
    let Some(counted) = rest.strip_prefix('{') else {
        return Some(rest);
    };
    let (numbers, behind) = counted.split_once('}')?;
    let (least, most) = numbers.split_once(',').unwrap_or((numbers, numbers));
    let number = |digits: &str| {
        let is_number =
            (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        digits
            .parse::<u32>()
            .ok()
            .filter(|number| is_number && *number <= MAX_COUNT)
    };
    let (least, most) = (number(least)?, number(most)?);
    (least <= most && is_over(behind)).then_some(behind)
}

/// Nothing that changes a count, or counts again, follows it.
fn is_over(behind: &str) -> bool {
    !behind.starts_with(['*', '+', '?', '{'])
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_people_write_is_plain_and_the_rest_is_left_to_the_engine() {
        for plain in [
            r"\b\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}\b",
            r"\b\d{3}-\d{2}-\d{4}\b",
            "api[_-]?key",
            "[A-Z0-9]{2,10}",
            "sk-[a-zA-Z0-9]+",
        ] {
            assert!(is_plain(plain), "{plain}");
            assert!(Pattern::expression(plain).is_ok(), "{plain}");
        }
        for other in [
            "", "(", "[", "[]", "[^a]", "[z-a]", "[--a]", "a{2,1}", "a**", "a*?", "{1}", "a{1000}",
            "a|b", "a$", r"\b*", r"\1", r"\b{g}", ".", "\u{e9}", "a{,2}", "a{2",
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_engine_takes_what_is_plain(expression in r"([a-z\[\]{}0-9,*+?\-]|\\[dwsb.-]|\[[a-z0-9-]{1,4}\]|\{[0-9]{1,2}\}){0,20}") {
            if is_plain(&expression) {
                prop_assert!(Pattern::expression(&expression).is_ok(), "{expression}");
            }
        }
    }
}
