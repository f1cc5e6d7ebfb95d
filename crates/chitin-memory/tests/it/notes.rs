//! A few notes, indexed in memory: what the tests of searching look through.

use chitin_contract::MemoryRules;
use chitin_memory::chunk::{self, ChunkOptions};
use chitin_memory::index::{Index, IndexedFile, NewPiece, Shape};
use chitin_memory::search::{ChunkSource, SearchRequest, SearchResults, search};

/// 1 May 2026, noon.
pub(crate) const NOW_MS: i64 = 1_777_636_800_000;

/// Makes an index of these files.
pub(crate) fn indexed(files: &[(&str, &str)], rules: &MemoryRules) -> Index {
    let mut index = Index::volatile_of(&Shape::new(rules.index)).unwrap();
    let options = ChunkOptions::configured(None, None, &rules.chunks);
    for (path, text) in files {
        let chunks = chunk::of_file(path, text, options, &rules.chunks);
        let pieces: Vec<NewPiece<'_>> = chunks
            .iter()
            .map(|chunk| NewPiece {
                start_line: chunk.start_line,
                end_line: chunk.end_line,
                text: &chunk.text,
                heading: chunk.heading.as_deref(),
            })
            .collect();
        let file = IndexedFile {
            source: ChunkSource::Memory,
            path,
            modified_ms: 0,
        };
        index.put(&file, &pieces).unwrap();
    }
    index
}

/// Asks by words only.
pub(crate) fn asked(index: &Index, query: &str, rules: &MemoryRules) -> SearchResults {
    let ask = SearchRequest {
        query,
        now_ms: NOW_MS,
        ..SearchRequest::default()
    };
    search(index, None, &ask, rules).unwrap()
}

/// Returns the paths of an answer.
pub(crate) fn paths(answer: &SearchResults) -> Vec<&str> {
    answer
        .hits
        .iter()
        .map(|hit| hit.piece.path.as_str())
        .collect()
}

/// Every set of rules.
pub(crate) const ALL: [MemoryRules; 3] = [
    MemoryRules::CANONICAL,
    MemoryRules::OPENCLAW_2026_4,
    MemoryRules::OPENCLAW_2026_9,
];
