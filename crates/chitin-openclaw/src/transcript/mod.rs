//! Transcripts: records one after the other, from wherever they are kept.

mod lines;
mod plain;
mod summary;
mod zstd;

pub use plain::plain_text;
pub use summary::TranscriptSummary;

pub(crate) use lines::each_line;
pub(crate) use zstd::{decoded, decoder};

/// The longest record that is read.
pub(crate) const MAX_RECORD_BYTES: usize = crate::database::MAX_VALUE_BYTES;

/// A record that could not be read, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is longer than any record.
    TooLong,
    /// It holds no record.
    Empty,
    /// Its compressed form is damaged.
    Damaged,
}
