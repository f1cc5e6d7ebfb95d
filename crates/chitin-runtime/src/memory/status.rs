//! How an agent's memory stands: what there is to remember, and what is in the index.

use super::{AgentMemory, MemoryOptions, unsearchable};
use crate::error::RuntimeError;
use serde::Serialize;
use std::path::PathBuf;

/// What there is to remember.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryStatus {
    /// The agent's id.
    pub agent: String,
    /// The contract.
    pub contract: &'static str,
    /// The workspace.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub workspace: PathBuf,
    /// Whether the agent has tools to search it.
    pub enabled: bool,
    /// Memory files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Transcripts of past conversations, if these are searched.
    pub conversations: Option<usize>,
    /// The index.
    pub index: IndexStatus,
    /// What makes vectors; nothing if it is searched by words alone.
    pub embeddings: Option<String>,
    /// What is looked up for every message; nothing if only the model asks.
    pub recall: Option<RecallStatus>,
    /// What people should know of it.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The index of an agent's memory.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexStatus {
    /// Where it is.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub path: PathBuf,
    /// What is in it; nothing before the first search.
    pub figures: Option<IndexFigures>,
}

/// What is in an index.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexFigures {
    /// Files.
    pub files: usize,
    /// Pieces of files.
    pub pieces: usize,
    /// Pieces that have a vector.
    pub vectors: usize,
    /// Its bytes on the disk.
    pub bytes: u64,
}

/// What is looked up for every message.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallStatus {
    /// At most so many results.
    pub results: usize,
    /// At most so many tokens.
    pub tokens: usize,
    /// How well a result must fit.
    pub min_score: f64,
}

impl AgentMemory {
    /// Returns how the memory stands. A runtime must be running if vectors come over the network.
    pub fn status(&self) -> Result<MemoryStatus, RuntimeError> {
        let memory = self.memory();
        let (listing, figures) = (memory.list(), memory.figures());
        let figures = figures.map_err(unsearchable)?;
        let made = self.made();
        let MemoryOptions {
            enabled, recall, ..
        } = &self.options;
        let mut notes = made.notes.clone();
        notes.extend(listing.notes.iter().map(ToString::to_string));
        if let Some((_, said)) = &figures {
            notes.extend(said.iter().map(ToString::to_string));
        }
        let embedder = made.memory.setting().embedder.as_ref();
        Ok(MemoryStatus {
            agent: self.setup.agent.to_string(),
            contract: self.setup.contract().name,
            workspace: self.setup.directory.clone(),
            enabled: *enabled,
            files: listing.files.len(),
            bytes: listing.files.iter().map(|file| file.size).sum(),
            conversations: listing.conversations(),
            index: IndexStatus {
                path: self.index_file(),
                figures: figures.map(|(figures, _)| IndexFigures {
                    files: figures.files,
                    pieces: figures.pieces,
                    vectors: figures.vectors,
                    bytes: figures.bytes,
                }),
            },
            embeddings: embedder.map(|embedder| embedder.name().to_owned()),
            recall: recall.map(|recall| RecallStatus {
                results: recall.results,
                tokens: recall.tokens,
                min_score: recall.min_score,
            }),
            notes,
        })
    }
}
