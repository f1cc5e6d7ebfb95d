//! What an agent remembers.

use crate::AgentFactory;
use crate::memory::{MemorySearch, MemoryStatus};
use chitin_server::workspace_api::{
    FoundMemory, MemoryIndex, MemoryIndexFigures, MemoryOverview, MemoryRecall, MemoryReply,
    MemoryRequest, MemoryResults, WorkspaceApiError, WorkspaceApiErrorKind,
};

/// The maximum number of results.
const MOST: usize = 100;

/// Searches an agent's memory, or describes it.
pub(super) fn answer(
    factory: &AgentFactory,
    request: &MemoryRequest,
) -> Result<MemoryReply, WorkspaceApiError> {
    let Some(query) = request.query.as_deref() else {
        return Ok(MemoryReply::Overview(overview(factory.memory.status()?)));
    };
    if query.trim().is_empty() {
        let kind = WorkspaceApiErrorKind::Bad;
        return Err(WorkspaceApiError::new(kind, "The query is empty."));
    }
    let limit = request.limit.map(|limit| limit.min(MOST));
    let found = factory.memory.find(query, limit)?;
    Ok(MemoryReply::Results(results(found)))
}

fn overview(status: MemoryStatus) -> MemoryOverview {
    MemoryOverview {
        agent: status.agent,
        contract: status.contract.to_owned(),
        workspace: status.workspace.to_string_lossy().into_owned(),
        enabled: status.enabled,
        files: status.files,
        bytes: status.bytes,
        conversations: status.conversations,
        index: MemoryIndex {
            path: status.index.path.to_string_lossy().into_owned(),
            figures: status.index.figures.map(|figures| MemoryIndexFigures {
                files: figures.files,
                pieces: figures.pieces,
                vectors: figures.vectors,
                bytes: figures.bytes,
            }),
        },
        embeddings: status.embeddings,
        recall: status.recall.map(|recall| MemoryRecall {
            results: recall.results,
            tokens: recall.tokens,
            min_score: recall.min_score,
        }),
    }
}

fn results(found: MemorySearch) -> MemoryResults {
    let results = found.results.into_iter().map(|result| FoundMemory {
        path: result.path,
        start_line: result.start_line,
        end_line: result.end_line,
        source: result.source.to_owned(),
        score: result.score,
        snippet: result.snippet,
        parts: result
            .parts
            .into_iter()
            .map(|(name, share)| (name.to_owned(), share))
            .collect(),
        text_score: result.text_score,
        vector_score: result.vector_score,
    });
    MemoryResults {
        question: found.question,
        mode: found.mode.to_owned(),
        embeddings: found.embeddings,
        results: results.collect(),
        notes: found.notes,
    }
}
