//! Where pieces are looked up.

use std::collections::BTreeSet;

/// Where a piece of text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChunkSource {
    /// A memory file of the workspace.
    Memory,
    /// A past conversation.
    Sessions,
}

impl ChunkSource {
    /// Returns the name that other programs know.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sessions => "sessions",
        }
    }

    /// Returns the source of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Memory, Self::Sessions]
            .into_iter()
            .find(|source| source.name() == name)
    }
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryChunk {
    /// What it goes by in the index. Larger is later.
    pub id: i64,
    /// Where it is from.
    pub source: ChunkSource,
    /// The file, relative to the workspace, with `/`.
    pub path: String,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Its text.
    pub text: String,
    /// When the file was last changed, in milliseconds.
    pub modified_ms: i64,
}

/// A piece that was found, and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundChunk {
    /// The piece.
    pub piece: MemoryChunk,
    /// From words: the rank of BM25 as SQLite gives it, where less is better. From vectors: the cosine, where more is better.
    pub strength: f64,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Within {
    /// The sources; none is all.
    pub sources: BTreeSet<ChunkSource>,
    /// Files that are left out.
    pub without: BTreeSet<String>,
}

/// Looks pieces up. Implemented by the index.
pub trait Finder {
    /// Returns the pieces that match an expression of FTS5, the best first.
    fn words(
        &self,
        expression: &str,
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError>;

    /// Returns the pieces nearest to a vector, the nearest first; none if there are no vectors.
    fn near(
        &self,
        vector: &[f32],
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError>;

    /// Returns the pieces of files whose path holds all these words (lower case), by path.
    fn paths(
        &self,
        words: &[String],
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError>;

    /// Returns in how many pieces each word stands, in any of the forms that count as one; very frequent words may be counted
    /// only up to a bound. Nothing if that is not known.
    fn frequencies(&self, _words: &[String]) -> Result<Vec<usize>, FindError> {
        Ok(Vec::new())
    }

    /// Returns how many pieces there are; 0 if that is not known.
    fn size(&self) -> Result<usize, FindError> {
        Ok(0)
    }

    /// Returns the paths of all files, each once, by path. Only for releases that rank paths: it costs with every file.
    fn files(&self, within: &Within) -> Result<Vec<String>, FindError>;

    /// Returns the first piece of each of these files that there is.
    fn openings(&self, paths: &[&str], within: &Within) -> Result<Vec<MemoryChunk>, FindError>;
}

/// Why nothing could be looked up.
#[derive(Debug, thiserror::Error)]
#[error("the memory index cannot be searched: {0}")]
pub struct FindError(pub String);
