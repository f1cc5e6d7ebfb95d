//! One pattern of a list: a literal phrase, or a regular expression in the Java dialect.

use super::plain::is_plain;
use super::translate::{TranslateError, translate};
use fancy_regex::{Regex, RegexBuilder};
use memchr::memchr2;
use serde::{Serialize, Serializer};
use thiserror::Error;

/// Steps back after which a match is given up. Giving up refuses the message, so a hostile text gains nothing by it.
const BACKTRACK_LIMIT: usize = 500_000;
/// The most memory for one compiled expression.
const SIZE_LIMIT: usize = 1 << 20;

/// A phrase or an expression. Both match anywhere in a text and take ASCII letters of either case for each other.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Matcher {
    Phrase,
    Expression(Box<Regex>),
}

/// Why an expression is no pattern.
#[derive(Debug, Error)]
pub enum PatternError {
    /// It is not well formed, or uses what this engine does not have.
    #[error(transparent)]
    Dialect(#[from] TranslateError),
    /// The engine does not take it.
    #[error("the engine does not take it: {0}")]
    Engine(String),
}

/// What matching came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Found,
    Absent,
    /// The search was given up: it would take too long to tell.
    Undecided,
}

impl Pattern {
    /// Takes a phrase literally.
    pub fn phrase(phrase: impl Into<String>) -> Self {
        Self {
            source: phrase.into(),
            matcher: Matcher::Phrase,
        }
    }

    /// Compiles an expression of the Java dialect.
    pub fn expression(source: &str) -> Result<Self, PatternError> {
        let translated = translate(source)?;
        let regex = RegexBuilder::new(&translated)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .build()
            .map_err(|error| PatternError::Engine(error.to_string()))?;
        Ok(Self {
            source: source.to_owned(),
            matcher: Matcher::Expression(Box::new(regex)),
        })
    }

    /// Tells whether an expression is so plain that the engine is known to take it. One that is not may be fine all the same.
    pub(super) fn is_plain(source: &str) -> bool {
        is_plain(source)
    }

    /// Returns the phrase or the expression as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Tells whether it is a literal phrase.
    pub const fn is_phrase(&self) -> bool {
        match self.matcher {
            Matcher::Phrase => true,
            Matcher::Expression(_) => false,
        }
    }

    /// Tells whether it is found in a text.
    pub fn finds(&self, text: &str) -> bool {
        self.search(text) == Match::Found
    }

    pub(super) fn search(&self, text: &str) -> Match {
        let found = match &self.matcher {
            Matcher::Phrase => Ok(contains_ignoring_ascii_case(text, &self.source)),
            Matcher::Expression(regex) => regex.is_match(text),
        };
        match found {
            Ok(true) => Match::Found,
            Ok(false) => Match::Absent,
            Err(_) => Match::Undecided,
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

fn contains_ignoring_ascii_case(text: &str, phrase: &str) -> bool {
    let (text, phrase) = (text.as_bytes(), phrase.as_bytes());
    let Some(first) = phrase.first() else {
        return true;
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut from = 0;
    while let Some(at) = memchr2(lower, upper, &text[from..]) {
        let start = from + at;
        match text.get(start..start + phrase.len()) {
            None => return false,
            Some(part) if part.eq_ignore_ascii_case(phrase) => return true,
            Some(_) => from = start + 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line was put to `java.util.regex` of Java 17, ignoring case.
    #[test]
    fn expressions_mean_what_they_mean_in_java() {
        for (expression, text, wanted) in [
            (r"\bapi[- ]?key\b", "my API-KEY is", Match::Found),
            ("\u{c9}", "\u{e9}", Match::Absent),
            ("(?u)\u{c9}", "\u{e9}", Match::Found),
            ("s", "\u{17f}", Match::Absent),
            (r"\w", "\u{e9}", Match::Absent),
            (r"\d", "\u{663}", Match::Absent),
            (r"\s", "\u{a0}", Match::Absent),
            (r"\h", "\u{a0}", Match::Found),
            ("a$", "a\n", Match::Found),
            (".", "\u{85}", Match::Absent),
            (r"\Qa.b\E", "A.B", Match::Found),
            ("(?-i)A", "a", Match::Absent),
            (r"\p{Upper}", "a", Match::Found),
            ("[a-c&&[^b]]", "B", Match::Absent),
            ("[+--]", "-", Match::Found),
            ("[+--]", "&", Match::Absent),
            (r"(a)\1", "aA", Match::Found),
            (r"\1", "1", Match::Absent),
        ] {
            let pattern = Pattern::expression(expression).unwrap();
            assert_eq!(pattern.search(text), wanted, "{expression} in {text:?}");
        }
        for broken in [
            "(", "[", "a{2,1}", "a**", "{", "x{1", "(?P<n>a)", "(?#c)a", r"\i", r"\E",
        ] {
            assert!(Pattern::expression(broken).is_err(), "{broken}");
        }
    }
}
