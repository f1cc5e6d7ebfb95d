//! A table of words and their vectors, as it is used: one read of a file, no map built.

use super::layout::{Layout, MOST_DIMENSIONS, MOST_WORDS, TableError, numbers};
use super::sums::dot;
use chitin_guard::{ReadPolicy, Root};
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;

/// A file is not read that is larger. The largest tables that are of use are a tenth of it.
pub const MOST_TABLE_BYTES: u64 = 600 << 20;

// A full table of the widest vectors would be larger than what is read, so that bound is the one that counts.
const _: () = assert!((MOST_WORDS * MOST_DIMENSIONS) as u64 <= MOST_TABLE_BYTES);

/// What is said of a common direction that is none.
const NO_DIRECTION: &str = "its common direction is no direction";

/// The square of the length of a direction is 1; rounding may add a little.
const LONGEST_DIRECTION: f32 = 1.001;

/// What is shorter than this is nothing but rounding.
const SHORTEST: f32 = 1e-6;

/// Words, in order, each with a weight and a vector of small numbers.
pub struct WordTable {
    bytes: Vec<u8>,
    layout: Layout,
    name: String,
    origin: String,
    common: Vec<f32>,
    /// Where each word begins in the bytes of all words, and where the last ends.
    offsets: Vec<u32>,
    /// What a number of a row counts: its scale times the weight of the word.
    factors: Vec<f32>,
    weights: Vec<f32>,
    /// The beginning of each word as one number: nearly all steps of a search compare only these.
    beginnings: Vec<u64>,
}

impl WordTable {
    /// Reads a table from a file.
    pub fn open(root: &Root, path: &Path) -> Result<Self, TableError> {
        let read = root
            .read(path, &ReadPolicy::inside(MOST_TABLE_BYTES))
            .map_err(|error| TableError::Unreadable(error.to_string()))?;
        Self::from_bytes(read.bytes)
    }

    /// Takes the bytes of a table. They are checked once, and are then trusted.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, TableError> {
        let layout = Layout::read(&bytes)?;
        let checksum = layout.checksum(&bytes)?;
        let text = |part: &[u8], complaint| {
            std::str::from_utf8(part)
                .ok()
                .filter(|text| !text.chars().any(|c| c.is_control() && c != '\n'))
                .map(str::to_owned)
                .ok_or(TableError::Damaged(complaint))
        };
        let name = text(&bytes[layout.name.clone()], "its name is not text")?;
        let origin = text(
            &bytes[layout.origin.clone()],
            "what it says of its origin is not text",
        )?;
        // Two tables of the same name that differ in one number must not be mixed.
        let name = format!("{name}@{}", hex::encode(&checksum[..4]));
        let common = Layout::factors(&bytes[layout.common.clone()], -1.0, NO_DIRECTION)?;
        if common.iter().map(|number| number * number).sum::<f32>() > LONGEST_DIRECTION {
            return Err(TableError::Damaged(NO_DIRECTION));
        }
        let scales = Layout::factors(
            &bytes[layout.scales.clone()],
            0.0,
            "a row has no usable scale",
        )?;
        let weights = Layout::factors(
            &bytes[layout.weights.clone()],
            0.0,
            "a word has no usable weight",
        )?;
        let offsets: Vec<u32> =
            numbers(&bytes[layout.offsets.clone()], u32::from_le_bytes).collect();
        let beginnings = in_order(&offsets, &bytes[layout.blob.clone()])?;
        let factors = scales.iter().zip(&weights).map(|(s, w)| s * w).collect();
        Ok(Self {
            bytes,
            layout,
            name,
            origin,
            common,
            offsets,
            factors,
            weights,
            beginnings,
        })
    }

    /// Returns the table's name, with the beginning of its checksum.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where its vectors are from, and under which licence they are used.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns how many numbers a vector has.
    pub const fn dimensions(&self) -> usize {
        self.layout.dimensions
    }

    /// Returns how many words it knows.
    pub const fn words(&self) -> usize {
        self.layout.words
    }

    /// Takes from a vector the direction that all texts share, which says nothing of any, and makes its length 1. Where only rounding
    /// would be left of the weight that went in, zeros are.
    pub(super) fn shorten(&self, vector: &mut [f32], weight: f32) {
        let shared = dot(vector, &self.common);
        for (number, common) in vector.iter_mut().zip(&self.common) {
            *number -= shared * common;
        }
        let length = dot(vector, vector).sqrt();
        if length.is_finite() && length > SHORTEST * weight && length > 0.0 {
            for number in vector {
                *number /= length;
            }
        } else {
            vector.fill(0.0);
        }
    }

    /// Finds a word, which is in lower case.
    pub(super) fn find(&self, word: &[u8]) -> Option<usize> {
        let beginning = beginning(word);
        let first = self.beginnings.partition_point(|known| *known < beginning);
        let blob = self.bytes.get(self.layout.blob.clone())?;
        let same = self.beginnings.get(first..)?;
        // Most often there is none, or it is the first.
        if same.first() != Some(&beginning) {
            return None;
        }
        if word_at(&self.offsets, blob, first)? == word {
            return Some(first);
        }
        let (mut low, mut high) = (0, same.partition_point(|known| *known == beginning));
        while low < high {
            let middle = usize::midpoint(low, high);
            match word_at(&self.offsets, blob, first + middle)?.cmp(word) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(first + middle),
            }
        }
        None
    }

    /// Adds a word's vector to a sum, and returns the weight that it was given.
    pub(super) fn add(&self, word: usize, sum: &mut [f32]) -> f32 {
        let (row, weight) = (self.row(word), self.weight(word));
        let factor = self.factors.get(word).copied().unwrap_or_default();
        for (sum, byte) in sum.iter_mut().zip(row) {
            *sum += factor * f32::from(byte.cast_signed());
        }
        weight
    }

    /// Returns a word's row, without its scale.
    pub(super) fn row(&self, word: usize) -> &[u8] {
        let start = self.layout.rows.start + word * self.layout.dimensions;
        let row = self.bytes.get(start..start + self.layout.dimensions);
        row.unwrap_or_default()
    }

    /// Returns how much a word counts.
    pub(super) fn weight(&self, word: usize) -> f32 {
        self.weights.get(word).copied().unwrap_or_default()
    }
}

impl fmt::Debug for WordTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordTable")
            .field("name", &self.name)
            .field("words", &self.layout.words)
            .field("dimensions", &self.layout.dimensions)
            .finish_non_exhaustive()
    }
}

/// Returns a word's first bytes as a number that keeps their order.
fn beginning(word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (byte, known) in bytes.iter_mut().zip(word) {
        *byte = *known;
    }
    u64::from_be_bytes(bytes)
}

fn word_at<'b>(offsets: &[u32], blob: &'b [u8], at: usize) -> Option<&'b [u8]> {
    let (start, end) = (*offsets.get(at)?, *offsets.get(at + 1)?);
    blob.get(start as usize..end as usize)
}

/// Checks that each word is behind the one before it, and returns their beginnings.
fn in_order(offsets: &[u32], blob: &[u8]) -> Result<Vec<u64>, TableError> {
    const DAMAGED: TableError = TableError::Damaged("its words are not in order");
    if offsets.first() != Some(&0) || offsets.last().map(|end| *end as usize) != Some(blob.len()) {
        return Err(DAMAGED);
    }
    let words = offsets.len() - 1;
    let mut beginnings = Vec::with_capacity(words);
    let mut before: &[u8] = &[];
    for at in 0..words {
        let word = word_at(offsets, blob, at).ok_or(DAMAGED)?;
        if word <= before {
            return Err(DAMAGED);
        }
        beginnings.push(beginning(word));
        before = word;
    }
    Ok(beginnings)
}
