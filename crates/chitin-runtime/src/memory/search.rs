//! What an agent's memory finds.

use super::{AgentMemory, unsearchable};
use crate::error::RuntimeError;
use chitin_memory::keeper::Effort;
use chitin_memory::rank::Hit;
use chitin_memory::search::{self, SearchRequest, Within};
use serde::Serialize;
use std::collections::BTreeMap;

/// What was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemorySearch {
    /// What was looked for.
    pub question: String,
    /// `lexical` or `hybrid`.
    pub mode: &'static str,
    /// What makes vectors.
    pub embeddings: Option<String>,
    /// What was found, best first.
    pub results: Vec<MemoryHit>,
    /// What people should know of it.
    pub notes: Vec<String>,
}

/// One piece of memory that fits.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryHit {
    /// The file.
    pub path: String,
    /// Its first line.
    pub start_line: u32,
    /// Its last line.
    pub end_line: u32,
    /// `memory` or `sessions`.
    pub source: &'static str,
    /// How well it fits.
    pub score: f64,
    /// Its text, as far as it is shown.
    pub snippet: String,
    /// What each part adds to the score, or takes off it.
    pub parts: BTreeMap<&'static str, f64>,
    /// What words alone give.
    pub text_score: Option<f64>,
    /// What meaning alone gives.
    pub vector_score: Option<f64>,
}

impl AgentMemory {
    /// Searches by the agent's own settings, with at most so many results. A runtime must be running if vectors come over the network.
    pub fn find(&self, question: &str, limit: Option<usize>) -> Result<MemorySearch, RuntimeError> {
        let options = &self.options;
        self.search(&SearchRequest {
            query: question,
            max_results: Some(limit.unwrap_or(options.results)),
            min_score: Some(options.min_score),
            within: Within::default(),
            now_ms: crate::Host::now_ms(),
            project: None,
        })
    }

    /// Searches for exactly what is asked. A runtime must be running if vectors come over the network.
    pub fn search(&self, ask: &SearchRequest<'_>) -> Result<MemorySearch, RuntimeError> {
        let answer = self
            .memory()
            .search(ask, &Effort::whole())
            .map_err(unsearchable)?;
        let made = self.made();
        let setting = made.memory.setting();
        let mut notes = made.notes.clone();
        notes.extend(answer.notes);
        Ok(MemorySearch {
            question: ask.query.to_owned(),
            mode: answer.mode.name(),
            embeddings: setting
                .embedder
                .as_ref()
                .map(|embedder| embedder.name().to_owned()),
            results: answer.hits.into_iter().map(MemoryHit::new).collect(),
            notes,
        })
    }
}

impl MemoryHit {
    fn new(hit: Hit) -> Self {
        Self {
            snippet: search::shown(&hit.piece.text).to_owned(),
            parts: hit
                .parts
                .telling()
                .map(|(part, amount)| (part.name(), amount))
                .collect(),
            path: hit.piece.path,
            start_line: hit.piece.start_line,
            end_line: hit.piece.end_line,
            source: hit.piece.source.name(),
            score: hit.score,
            text_score: hit.text_score,
            vector_score: hit.vector_score,
        }
    }
}
