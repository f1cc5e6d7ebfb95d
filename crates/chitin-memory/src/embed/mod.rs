//! Texts as vectors: close in meaning, close in space.
//!
//! Offline, a [`WordTable`] knows a vector for each of many words, and a text is their weighted mean ([`WordEmbedder`]). It is one
//! data file, which [`convert()`] makes from published word vectors. Over the network, whoever has a client implements [`Embedder`].

mod compat;
pub mod convert;
mod layout;
mod spelling;
mod table;
mod words;

pub use convert::{ConvertError, Converted, Options, convert};
pub use layout::TableError;
pub use table::{MOST_TABLE_BYTES, WordTable};
pub use words::WordEmbedder;

/// Turns texts into vectors. Implemented by a table of words and, over the network, by whoever has a client.
pub trait Embedder: Send + Sync {
    /// Returns what the vectors are from, such as `openai/text-embedding-3-small`: vectors of different names are never compared.
    fn name(&self) -> &str;

    /// Returns how many numbers a vector has, if that is known before the first text.
    fn dimensions(&self) -> Option<usize>;

    /// Returns how many texts are best given at once.
    fn batch(&self) -> usize;

    /// Returns one vector per text, in order. Its length is 1. A vector of zeros says that nothing is known of the text: it has no
    /// vector, and it is near to nothing.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Returns the line of a text that is closest to a question's vector, if looking so closely costs next to nothing here.
    ///
    /// The vector of a whole piece blurs what its lines say. Where this answers, the best few dozen pieces are put in a better order
    /// by the mean of both, and the line is what was asked for.
    fn closest_line(&self, _question: &[f32], _text: &str) -> Option<ClosestLine> {
        None
    }
}

/// A line of a text, and how close it is to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestLine {
    /// The line, counted from 0.
    pub line: usize,
    /// The cosine of the angle between the two: 1 for the same direction, 0 for nothing in common.
    pub similarity: f32,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Something to find.
    Document,
    /// A question.
    Query,
}

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EmbedError {
    /// What happened, as a sentence.
    pub message: String,
    /// Whether it may work later.
    pub passing: bool,
}
