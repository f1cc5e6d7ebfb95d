//! An agent's memory: what there is, and what a search finds.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is to be known of an agent's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRequest {
    /// The agent.
    pub agent: String,
    /// What is searched for; none asks for an overview.
    pub query: Option<String>,
    /// The maximum number of results.
    pub limit: Option<usize>,
}

/// An overview of an agent's memory, or the results of a search.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MemoryReply {
    /// The results of a search.
    Results(MemoryResults),
    /// The overview.
    Overview(MemoryOverview),
}

/// What an agent remembers: what `chitin memory status --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryOverview {
    /// The agent's id.
    pub agent: String,
    /// The contract.
    pub contract: String,
    /// The workspace.
    pub workspace: String,
    /// Whether the agent has tools to search its memory.
    pub enabled: bool,
    /// How many memory files there are.
    pub files: usize,
    /// Their length together, in bytes.
    pub bytes: u64,
    /// How many transcripts are searched; null if none are.
    pub conversations: Option<usize>,
    /// The index.
    pub index: MemoryIndex,
    /// What makes vectors; null if only words are searched.
    pub embeddings: Option<String>,
    /// What is searched for every message; null if only the model searches.
    pub recall: Option<MemoryRecall>,
}

/// The index of an agent's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryIndex {
    /// Its file.
    pub path: String,
    /// What is in it; null before the first search.
    pub figures: Option<MemoryIndexFigures>,
}

/// What is in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryIndexFigures {
    /// How many files.
    pub files: usize,
    /// How many pieces of files.
    pub pieces: usize,
    /// How many pieces have a vector.
    pub vectors: usize,
    /// Its length in bytes.
    pub bytes: u64,
}

/// What is searched for every message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRecall {
    /// The maximum number of results.
    pub results: usize,
    /// The maximum number of tokens.
    pub tokens: usize,
    /// How well a result must fit.
    pub min_score: f64,
}

/// What a search found: what `chitin memory search --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryResults {
    /// What was searched for.
    pub question: String,
    /// `lexical` or `hybrid`.
    pub mode: String,
    /// What makes vectors; null if only words are searched.
    pub embeddings: Option<String>,
    /// What was found, best first.
    pub results: Vec<FoundMemory>,
    /// Notes for people.
    pub notes: Vec<String>,
}

/// A piece of memory that fits.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMemory {
    /// The file.
    pub path: String,
    /// Its first line.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// `memory` or `sessions`.
    pub source: String,
    /// How well it fits.
    pub score: f64,
    /// Its text, as far as it is shown.
    pub snippet: String,
    /// What each part adds to the score or takes off it.
    pub parts: BTreeMap<String, f64>,
    /// The score of the words alone.
    pub text_score: Option<f64>,
    /// The score of the vectors alone.
    pub vector_score: Option<f64>,
}
