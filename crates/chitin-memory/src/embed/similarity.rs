//! A question and a text, line by line and word by word.

use super::sentence::WordEmbedder;
use super::spelling::{each_known, each_word};
use super::sums::dot;
use super::table::WordTable;
use super::{CloserLook, Seen};
use std::collections::HashMap;

/// A question has no more words that are looked for one by one.
const MOST_WORDS: usize = 64;

/// Words that are no closer than this have nothing to do with each other.
const FARTHEST: f32 = 0.3;

/// How much a word counts that the table does not have. It is rare, and often a name: as much as the rarest.
const UNKNOWN_WEIGHT: f32 = 1.0;

/// A word of the question.
struct Wanted {
    weight: f32,
    kind: Kind,
}

enum Kind {
    /// It is in the table: its place, and its direction without what all texts share.
    Known(usize, Vec<f32>),
    /// It is not: only the same letters will do.
    Unknown(Vec<u8>),
}

/// A question that is compared with texts by a table of words.
pub(super) struct WordLook<'e> {
    embedder: &'e WordEmbedder,
    vector: Vec<f32>,
    wanted: Vec<Wanted>,
    /// How close each word that was met is to each word that is wanted. Texts of one search have most words in common.
    met: HashMap<usize, Vec<f32>>,
}

impl<'e> WordLook<'e> {
    pub(super) fn new(embedder: &'e WordEmbedder, question: &str) -> Self {
        let table = embedder.table();
        let mut wanted: Vec<Wanted> = Vec::new();
        each_word(question, |word| {
            let mut found = Vec::new();
            each_known(word, &|word| table.find(word), &mut |at| found.push(at));
            if found.is_empty() {
                wanted.push(Wanted {
                    weight: UNKNOWN_WEIGHT,
                    kind: Kind::Unknown(without_ending(word).to_vec()),
                });
            }
            wanted.extend(found.into_iter().map(|at| Wanted {
                weight: table.weight(at),
                kind: Kind::Known(at, direction(table, at)),
            }));
        });
        wanted.truncate(MOST_WORDS);
        Self {
            vector: embedder.vector(question),
            embedder,
            wanted,
            met: HashMap::new(),
        }
    }

    /// Notes for each word that is wanted how close the words of a text come to it.
    fn meet(&mut self, text: &str, best: &mut [f32]) {
        let (table, wanted, met) = (self.embedder.table(), &self.wanted, &mut self.met);
        each_word(text, |word| {
            let mut any = false;
            each_known(word, &|word| table.find(word), &mut |at| {
                any = true;
                let close = met
                    .entry(at)
                    .or_insert_with(|| closeness(table, wanted, at));
                for (best, close) in best.iter_mut().zip(close) {
                    *best = best.max(*close);
                }
            });
            if !any {
                let word = without_ending(word);
                for (best, wanted) in best.iter_mut().zip(wanted) {
                    if matches!(&wanted.kind, Kind::Unknown(letters) if letters == word) {
                        *best = 1.0;
                    }
                }
            }
        });
    }
}

impl CloserLook for WordLook<'_> {
    fn at(&mut self, text: &str) -> Seen {
        let mut seen = Seen::default();
        for (line, words) in text.lines().enumerate() {
            let vector = self.embedder.vector(words);
            let closeness = dot(&vector, &self.vector);
            // The first of equals; a line without a vector is no answer.
            if closeness > seen.closeness {
                seen.line = Some(line);
                seen.closeness = closeness.min(1.0);
            }
        }
        let mut best = vec![0.0; self.wanted.len()];
        self.meet(text, &mut best);
        let all: f32 = self.wanted.iter().map(|wanted| wanted.weight).sum();
        let pairs = self.wanted.iter().zip(&best);
        let covered: f32 = pairs.map(|(wanted, best)| wanted.weight * best).sum();
        if all > 0.0 {
            seen.coverage = (covered / all).clamp(0.0, 1.0);
        }
        seen
    }
}

/// Returns how close a word is to each that is wanted, from 0 to 1.
fn closeness(table: &WordTable, wanted: &[Wanted], at: usize) -> Vec<f32> {
    let other = direction(table, at);
    let close = |wanted: &Wanted| match &wanted.kind {
        Kind::Known(same, _) if *same == at => 1.0,
        Kind::Known(_, direction) => {
            ((dot(direction, &other) - FARTHEST) / (1.0 - FARTHEST)).clamp(0.0, 1.0)
        }
        Kind::Unknown(_) => 0.0,
    };
    wanted.iter().map(close).collect()
}

/// Returns the direction of a word without what all texts share, of length 1 or zeros.
fn direction(table: &WordTable, at: usize) -> Vec<f32> {
    let row = table.row(at).iter();
    let mut direction: Vec<f32> = row.map(|byte| f32::from(byte.cast_signed())).collect();
    table.shorten(&mut direction, 1.0);
    direction
}

/// `Anna's` is a form of `Anna`, whom no table knows either.
fn without_ending(word: &[u8]) -> &[u8] {
    word.strip_suffix(b"'s").unwrap_or(word)
}
