//! Texts as vectors: close in meaning, close in space.

/// Turns texts into vectors. Implemented by a table of words and, over the network, by whoever has a client.
pub trait Embedder: Send + Sync {
    /// Returns what the vectors are from, such as `openai/text-embedding-3-small`: vectors of different names are never compared.
    fn name(&self) -> &str;

    /// Returns how many numbers a vector has, if that is known before the first text.
    fn dimensions(&self) -> Option<usize>;

    /// Returns how many texts are best given at once.
    fn batch(&self) -> usize;

    /// Returns one vector per text, in order.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;
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
