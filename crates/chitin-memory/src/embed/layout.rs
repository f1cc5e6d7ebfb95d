//! The bytes of a word table: what stands where, and whether a file may be believed.
//!
//! All numbers are little-endian. In this order: [`MAGIC`]; six `u32`: version, dimensions `d`, words `n`, bytes of all words, bytes of
//! the name, bytes of the origin; the name; the origin; `d` `f32`, the common direction; `n + 1` `u32`, where each word begins; the
//! words; `n` `f32`, the scale of each row; `n` `f32`, the weight of each word; `n · d` `i8`, the rows; the SHA-256 of all before.

use sha2::{Digest, Sha256};
use std::ops::Range;

/// What a word table begins with.
pub(super) const MAGIC: &[u8; 8] = b"chitinwt";

/// The version of the layout that is written and read.
pub(super) const VERSION: u32 = 1;

/// A vector has no more numbers.
pub(super) const MOST_DIMENSIONS: usize = 512;

/// A table has no more words.
pub(super) const MOST_WORDS: usize = 1_000_000;

/// A word has no more bytes.
pub(super) const LONGEST_WORD: usize = 48;

/// The name has no more bytes.
pub(super) const LONGEST_NAME: usize = 100;

/// The text about the origin has no more bytes.
pub(super) const LONGEST_ORIGIN: usize = 16 * 1024;

/// Scales and weights are not larger: no sum of them overflows.
const LARGEST_FACTOR: f32 = 1e6;

/// Magic and six numbers.
const HEADER: usize = 8 + 6 * 4;

/// The bytes of a SHA-256.
const CHECKSUM: usize = 32;

/// Why a file is not a word table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It begins with something else.
    #[error("this is not a word table: it does not begin like one")]
    NotATable,
    /// A later program wrote it.
    #[error(
        "this word table has version {0} and only version {VERSION} is understood; make it again"
    )]
    Version(u32),
    /// It has less or more bytes than it says.
    #[error(
        "this word table is damaged: it should have {expected} bytes and has {found}; make it again"
    )]
    Length {
        /// How many bytes it says that it has.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// Something in it cannot be.
    #[error("this word table is damaged: {0}; make it again")]
    Damaged(&'static str),
    /// It cannot be read from the disk.
    #[error("{0}")]
    Unreadable(String),
}

/// Where the parts of a table are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) dimensions: usize,
    pub(super) words: usize,
    pub(super) name: Range<usize>,
    pub(super) origin: Range<usize>,
    pub(super) common: Range<usize>,
    pub(super) offsets: Range<usize>,
    pub(super) blob: Range<usize>,
    pub(super) scales: Range<usize>,
    pub(super) weights: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl Layout {
    /// Reads the header and says where everything is. Nothing behind the header was looked at.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, TableError> {
        let header = bytes.get(..HEADER).ok_or(TableError::NotATable)?;
        if !header.starts_with(MAGIC) {
            return Err(TableError::NotATable);
        }
        let mut numbers = numbers(&header[MAGIC.len()..], u32::from_le_bytes);
        let mut next = || numbers.next().unwrap_or_default();
        let version = next();
        if version != VERSION {
            return Err(TableError::Version(version));
        }
        let mut bounded = |least: usize, most: usize, complaint| {
            let number = usize::try_from(next()).unwrap_or(usize::MAX);
            if (least..=most).contains(&number) {
                Ok(number)
            } else {
                Err(TableError::Damaged(complaint))
            }
        };
        let dimensions = bounded(1, MOST_DIMENSIONS, "its vectors have no usable size")?;
        let words = bounded(
            1,
            MOST_WORDS,
            "it has no words, or more than a table can have",
        )?;
        let blob = bounded(
            words,
            words * LONGEST_WORD,
            "its words have no usable length",
        )?;
        let name = bounded(1, LONGEST_NAME, "its name has no usable length")?;
        let origin = bounded(
            0,
            LONGEST_ORIGIN,
            "what it says of its origin has no usable length",
        )?;

        let mut end = HEADER;
        let mut part = |length: usize| {
            let start = end;
            end += length;
            start..end
        };
        let layout = Self {
            dimensions,
            words,
            name: part(name),
            origin: part(origin),
            common: part(dimensions * 4),
            offsets: part((words + 1) * 4),
            blob: part(blob),
            scales: part(words * 4),
            weights: part(words * 4),
            rows: part(words * dimensions),
        };
        let expected = layout.rows.end + CHECKSUM;
        if bytes.len() != expected {
            return Err(TableError::Length {
                expected,
                found: bytes.len(),
            });
        }
        Ok(layout)
    }

    /// Returns the checksum of a table, if it is the right one.
    pub(super) fn checksum<'t>(&self, bytes: &'t [u8]) -> Result<&'t [u8], TableError> {
        let (content, checksum) = bytes.split_at(self.rows.end);
        if Sha256::digest(content).as_slice() == checksum {
            Ok(checksum)
        } else {
            Err(TableError::Damaged("its checksum is wrong"))
        }
    }

    /// Returns numbers that are finite, and not negative unless they may be.
    pub(super) fn factors(
        bytes: &[u8],
        least: f32,
        complaint: &'static str,
    ) -> Result<Vec<f32>, TableError> {
        let factors: Vec<f32> = numbers(bytes, f32::from_le_bytes).collect();
        // A comparison with something that is not a number is false.
        if factors
            .iter()
            .all(|factor| (least..=LARGEST_FACTOR).contains(factor))
        {
            Ok(factors)
        } else {
            Err(TableError::Damaged(complaint))
        }
    }
}

/// Returns the numbers that stand in some bytes.
pub(super) fn numbers<T>(bytes: &[u8], read: fn([u8; 4]) -> T) -> impl Iterator<Item = T> {
    bytes.as_chunks::<4>().0.iter().map(move |four| read(*four))
}

/// Returns the header of a table, from the sizes of its parts.
pub(super) fn header(sizes: [u32; 5]) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    for number in [VERSION].iter().chain(&sizes) {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header
}
