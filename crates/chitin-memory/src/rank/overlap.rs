//! What a piece gets for the query's words beyond its rank (M41).

use super::bm25::as_float;
use super::{Hit, ScorePart};
use chitin_protocol::text::utf16_len;
use std::collections::HashSet;

/// What is added for what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Additions {
    /// For the share of the words that the text has.
    pub share: f64,
    /// For these words among all of the text.
    pub density: f64,
    /// For each word in the path.
    pub path: f64,
    /// Text of this many UTF-16 units adds 1,
    pub length_units: f64,
    /// but at most this.
    pub length_most: f64,
}

/// The words of a query, ready to be looked for in many texts.
#[derive(Debug, Clone)]
pub struct Overlap {
    words: Vec<String>,
    additions: Additions,
}

impl Overlap {
    /// Takes a query apart.
    pub fn new(query: &str, additions: Additions) -> Self {
        let mut words = Vec::new();
        for word in words_of(&query.to_lowercase()) {
            if !words.iter().any(|other| other == word) {
                words.push(word.to_owned());
            }
        }
        Self { words, additions }
    }

    /// Adds to a hit what its text and its path deserve.
    pub fn add(&self, hit: &mut Hit) {
        if self.words.is_empty() {
            return;
        }
        let text = hit.piece.text.to_lowercase();
        let distinct: HashSet<&str> = words_of(&text).collect();
        let found = self
            .words
            .iter()
            .filter(|word| distinct.contains(word.as_str()))
            .count();
        let path = hit.piece.path.to_lowercase();
        let in_path = self
            .words
            .iter()
            .filter(|word| path.contains(word.as_str()))
            .count();
        let found = as_float(found);
        let add = &self.additions;
        hit.add(
            ScorePart::Overlap,
            add.share * found / as_float(self.words.len()),
        );
        hit.add(
            ScorePart::Density,
            add.density * found / as_float(distinct.len().max(1)),
        );
        hit.add(ScorePart::Path, add.path * as_float(in_path));
        let length = as_float(utf16_len(&hit.piece.text)) / add.length_units;
        hit.add(ScorePart::Length, length.min(add.length_most));
        hit.cap();
    }
}

/// Returns the runs of letters, digits and underscores.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}
