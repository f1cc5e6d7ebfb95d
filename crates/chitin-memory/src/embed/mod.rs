//! Texts as vectors: close in meaning, close in space.
//!
//! Offline, a [`WordTable`] knows a vector for each of many words, and a text is their weighted mean ([`WordEmbedder`]). It is one
//! data file, which [`convert()`] makes from published word vectors. Over the network, whoever has a client implements [`Embedder`].

mod compat;
pub mod convert;
mod layout;
mod sentence;
mod similarity;
mod spelling;
mod sums;
mod table;

pub use convert::{ConvertError, Converted, TableOptions, convert};
pub use layout::TableError;
pub use sentence::WordEmbedder;
pub use table::{MOST_TABLE_BYTES, WordTable};

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

    /// Returns something that looks closer at single texts, if that costs next to nothing here; see [`CloserLook`].
    fn look_closer(&self, _question: &str) -> Option<Box<dyn CloserLook + '_>> {
        None
    }
}

/// Compares one question with one text after the other, more closely than two vectors do. Implemented where it takes microseconds: the
/// best few dozen of a search are put in a better order by it.
pub trait CloserLook {
    /// Looks at a text.
    fn at(&mut self, text: &str) -> Seen;
}

/// What a closer look saw.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seen {
    /// The line that is closest to the question, counted from 0; nothing when no line has to do with it.
    pub line: Option<usize>,
    /// How close that line is, from 0 to 1. The vector of a whole text blurs what its lines say.
    pub closeness: f32,
    /// How much of the question is in the text, word by word, in the same words or in close ones, from 0 to 1.
    pub coverage: f32,
}

impl Seen {
    /// Returns the strength of a text from 0 to 1, given that of its vector: the mean of the three has proved best.
    pub fn strength(&self, vector: f32) -> f32 {
        (vector.max(0.0) + self.closeness + self.coverage) / 3.0
    }
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
