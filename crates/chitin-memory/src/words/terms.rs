//! What our own index is asked for.

use super::stop::is_stop_word;
use super::{korean, unspaced};
use chitin_contract::StopWords;
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A question asks for no more than this; the first words say what it is about.
const MOST_TERMS: usize = 32;

/// A letter or a digit and what follows it, marks included.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*").ok());

/// Something to look for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// A word in lower case, or a pair of characters of a script without spaces. Never holds a quote.
    pub text: String,
    /// Whether the index has it only as the beginning of something: one character of a script that is kept in pairs.
    pub is_beginning: bool,
}

impl Term {
    /// Returns the expression of FTS5 that asks for it.
    pub fn expression(&self) -> String {
        let star = if self.is_beginning { "*" } else { "" };
        format!("\"{}\"{star}", self.text)
    }
}

/// Returns what to look for in text that went through [`super::segmented`]: words in lower case without stop words, and pairs of
/// characters where there are no spaces; each once. A question of nothing but stop words asks for these.
pub fn canonical_terms(query: &str) -> Vec<Term> {
    let query = query.to_lowercase();
    let mut telling = Vec::new();
    let mut others = Vec::new();
    let mut seen = HashSet::new();
    for word in WORD.iter().flat_map(|word| word.find_iter(&query)) {
        for term in terms_of(word.as_str()) {
            if !seen.insert(term.clone()) {
                continue;
            }
            if is_stop_word(&term.text, StopWords::TwelveLanguages) {
                others.push(term);
            } else {
                telling.push(term);
            }
            if telling.len() == MOST_TERMS {
                return telling;
            }
        }
    }
    if telling.is_empty() {
        others.truncate(MOST_TERMS);
        return others;
    }
    telling
}

fn terms_of(word: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let word = match korean::stem(word) {
        Some(stem) if korean::is_telling(stem) => stem,
        _ => word,
    };
    let mut rest = word;
    while !rest.is_empty() {
        let run = unspaced::run(rest);
        let is_lone = unspaced::is_one(run);
        terms.extend(unspaced::pairs(run).map(|pair| Term {
            text: pair.to_owned(),
            is_beginning: is_lone,
        }));
        rest = &rest[run.len()..];
        let end = rest.find(unspaced::is_unspaced).unwrap_or(rest.len());
        if end > 0 {
            terms.push(Term {
                text: rest[..end].to_owned(),
                is_beginning: false,
            });
        }
        rest = &rest[end..];
    }
    terms
}
