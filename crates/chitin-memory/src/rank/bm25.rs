//! The rank that SQLite gives, and the same for lists that are too short to ask SQLite.

use std::collections::HashMap;

/// What SQLite uses.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// What a word is worth that stands in more than half of all texts.
const COMMON: f64 = 1e-6;

/// Makes a score between 0 and 1 of a rank as SQLite gives it, where less is better (M22).
pub fn score_of_rank(rank: f64) -> f64 {
    if !rank.is_finite() {
        return if rank < 0.0 { 1.0 } else { 0.0 };
    }
    if rank < 0.0 {
        -rank / (1.0 - rank)
    } else {
        1.0 / (1.0 + rank)
    }
}

/// Ranks those texts that have all the words, as SQLite would: `texts` are lists of words. Gives the place and the rank of each.
pub fn ranks(texts: &[Vec<String>], words: &[String]) -> Vec<(usize, f64)> {
    if texts.is_empty() || words.is_empty() {
        return Vec::new();
    }
    let count = as_float(texts.len());
    let mean = as_float(texts.iter().map(Vec::len).sum()) / count;
    let mut holding: HashMap<&str, usize> = words.iter().map(|word| (word.as_str(), 0)).collect();
    for text in texts {
        for (word, number) in &mut holding {
            *number += usize::from(text.iter().any(|other| other == word));
        }
    }
    let mut ranked: Vec<(usize, f64)> = texts
        .iter()
        .enumerate()
        .filter(|(_, text)| words.iter().all(|word| text.contains(word)))
        .map(|(at, text)| {
            let long = SATURATION * (1.0 - LENGTH + LENGTH * as_float(text.len()) / mean);
            let rank: f64 = words
                .iter()
                .map(|word| {
                    let number = as_float(holding.get(word.as_str()).copied().unwrap_or(0));
                    let rare = ((count - number + 0.5) / (number + 0.5)).ln();
                    let rare = if rare <= 0.0 { COMMON } else { rare };
                    let times = as_float(text.iter().filter(|other| *other == word).count());
                    rare * times * (SATURATION + 1.0) / (times + long)
                })
                .sum();
            (at, -rank)
        })
        .collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    ranked
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of texts and words are far below 2^52"
)]
pub(crate) fn as_float(count: usize) -> f64 {
    count as f64
}
