//! How much of a question a piece answers: our own score (0 to 1).

use super::bm25::as_float;
use super::{Hit, ScorePart};
use crate::words::Term;

/// What a word of the question is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWord {
    /// The word.
    pub term: Term,
    /// How much it says: rare words say more.
    pub weight: f64,
}

/// A question, ready to be compared with many pieces.
#[derive(Debug, Clone)]
pub struct QueryCoverage {
    asked: Vec<QueryWord>,
    stems: Vec<String>,
    /// Which first bytes the terms have: most words of a text are none of them, and are passed over at once.
    first_bytes: [bool; 256],
    total: f64,
    /// What the whole score is made of: share, rank, place, together.
    shares: [f64; 4],
}

/// What a word that stands nowhere counts, against the mean of those that do: it may be a slip, or say nothing here.
const UNSEEN: f64 = 0.5;

/// Longer runs of plain letters are no words that anybody asks for.
const MAX_WORD_BYTES: usize = 128;

impl QueryCoverage {
    /// Prepares a question. `frequencies` says in how many of `size` pieces each term stands; if it says nothing, all terms are worth
    /// the same. `shares` are for the share of words, the rank, words in the place, and words that stand together.
    pub fn new(terms: Vec<Term>, frequencies: &[usize], size: usize, shares: [f64; 4]) -> Self {
        let weights = weights(terms.len(), frequencies, size);
        let stems = terms
            .iter()
            .map(|term| stem(&term.text).to_owned())
            .collect();
        let mut first_bytes = [false; 256];
        for term in &terms {
            if let Some(byte) = term.text.bytes().next() {
                first_bytes[usize::from(byte)] = true;
            }
        }
        let asked: Vec<QueryWord> = terms
            .into_iter()
            .zip(weights)
            .map(|(term, weight)| QueryWord { term, weight })
            .collect();
        let total = asked.iter().map(|one| one.weight).sum();
        Self {
            asked,
            stems,
            first_bytes,
            total,
            shares,
        }
    }

    /// Returns the words and what they are worth.
    pub fn asked(&self) -> &[QueryWord] {
        &self.asked
    }

    /// Scores a piece that was found with this rank of SQLite, where less is better.
    pub fn score(&self, hit: &mut Hit, rank: f64) {
        if self.asked.is_empty() || self.total <= 0.0 {
            return;
        }
        let [share, by_rank, place, together] = self.shares;
        let text = Seen::of(&hit.piece.text, self);
        let path = Seen::of(&hit.piece.path, self);
        let either = |at: usize| text.has(at) || path.has(at);
        let found = self.worth(either);
        // A piece that was found has at least one of the words, in whatever form: half of the least is a safe guess.
        let least = self
            .asked
            .iter()
            .map(|one| one.weight)
            .fold(f64::INFINITY, f64::min);
        let found = found.max(least / 2.0) / self.total;
        hit.add(ScorePart::Overlap, share * found);
        let rank = (-rank).max(0.0);
        let strength = rank / (rank + self.total);
        hit.text_score = Some(strength);
        hit.add(ScorePart::Text, by_rank * strength);
        hit.add(
            ScorePart::Path,
            place * self.worth(|at| path.has(at)) / self.total,
        );
        if self.asked.len() > 1 {
            let pairs = as_float(self.asked.len() - 1);
            hit.add(ScorePart::Together, together * as_float(text.pairs) / pairs);
        } else {
            hit.add(
                ScorePart::Together,
                together * f64::from(u8::from(text.has(0))),
            );
        }
        hit.cap();
    }

    fn worth(&self, has: impl Fn(usize) -> bool) -> f64 {
        self.asked
            .iter()
            .enumerate()
            .filter(|(at, _)| has(*at))
            .map(|(_, one)| one.weight)
            .sum()
    }

    /// Returns which term a word is a form of.
    fn term_of(&self, word: &str) -> Option<usize> {
        let first = word.bytes().next()?;
        if !self.first_bytes[usize::from(first)] {
            return None;
        }
        // A stem is at least the first two letters of every form, so words that begin otherwise need not be cut.
        let begins = |stem: &String| stem.as_bytes().get(..2) == word.as_bytes().get(..2);
        if word.len() > 3 && !self.stems.iter().any(begins) {
            return None;
        }
        let form = stem(word);
        self.stems.iter().zip(&self.asked).position(|(stem, one)| {
            form == stem || (one.term.is_beginning && word.starts_with(&one.term.text))
        })
    }
}

/// Which terms a text has, as bits, and how many neighbours in the query are neighbours in the text too.
struct Seen {
    bits: u64,
    pairs: usize,
}

impl Seen {
    fn of(text: &str, asked: &QueryCoverage) -> Self {
        let mut seen = Sight::default();
        if text.is_ascii() {
            // Most words begin like none that is asked for, and need not be made lower case to see that.
            for word in text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
                let Some(first) = word.first() else { continue };
                if !asked.first_bytes[usize::from(first.to_ascii_lowercase())] {
                    seen.before = None;
                    continue;
                }
                let mut lower = [0; MAX_WORD_BYTES];
                let Some(lower) = lower.get_mut(..word.len()) else {
                    seen.before = None;
                    continue;
                };
                lower.copy_from_slice(word);
                lower.make_ascii_lowercase();
                let word = std::str::from_utf8(lower).unwrap_or_default();
                seen.see(asked.term_of(word));
            }
        } else {
            let lower = text.to_lowercase();
            let segmented = crate::words::segmented(&lower);
            for word in segmented
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
            {
                seen.see(asked.term_of(word));
            }
        }
        Self {
            bits: seen.bits,
            pairs: seen.paired.count_ones() as usize,
        }
    }

    fn has(&self, at: usize) -> bool {
        at < 64 && self.bits & (1 << at) != 0
    }
}

/// What was seen so far.
#[derive(Default)]
struct Sight {
    bits: u64,
    paired: u64,
    before: Option<usize>,
}

impl Sight {
    fn see(&mut self, term: Option<usize>) {
        let this = term.filter(|at| *at < 64);
        if let Some(at) = this {
            self.bits |= 1 << at;
            if at > 0 && self.before == Some(at - 1) {
                self.paired |= 1 << at;
            }
        }
        self.before = this;
    }
}

/// Returns how much each term says. Rare ones say more, but no word decides alone.
fn weights(terms: usize, frequencies: &[usize], size: usize) -> Vec<f64> {
    if frequencies.len() != terms || size == 0 {
        return vec![1.0; terms];
    }
    let size = as_float(size);
    let weight = |count: usize| {
        let count = as_float(count).min(size);
        (1.0 + (size - count + 0.5) / (count + 0.5)).ln()
    };
    let seen: Vec<f64> = frequencies
        .iter()
        .filter(|count| **count > 0)
        .map(|count| weight(*count))
        .collect();
    let mean = if seen.is_empty() {
        1.0
    } else {
        seen.iter().sum::<f64>() / as_float(seen.len())
    };
    frequencies
        .iter()
        .map(|count| match count {
            0 => UNSEEN * mean,
            count => weight(*count),
        })
        .collect()
}

/// Cuts what changes when a word is used, roughly as the index does: enough to see that a word is there.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 12] = [
        "ations", "ation", "ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "s", "y",
    ];
    if word.len() < 4 || !word.is_ascii() {
        return word;
    }
    let bare = ENDINGS
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|bare| bare.len() >= 3))
        .unwrap_or(word);
    let bare = bare
        .strip_suffix('e')
        .filter(|bare| bare.len() >= 3)
        .unwrap_or(bare);
    // `running` and `run`.
    let bytes = bare.as_bytes();
    match bytes {
        [.., a, b] if a == b && bare.len() > 3 && !matches!(b, b'l' | b's' | b'z') => {
            &bare[..bare.len() - 1]
        }
        _ => bare,
    }
}
