//! What a search costs beside SQLite: 200 candidates by words and 200 by vectors, scored, merged and put in order.

use chitin_contract::MemoryRules;
use chitin_memory::embed::{EmbedError, Embedder, Purpose};
use chitin_memory::search::{
    ChunkSource, FindError, Finder, FoundChunk, MemoryChunk, SearchRequest, Within, search,
};

const CANDIDATES: i64 = 200;
const WORDS: [&str; 24] = [
    "the", "harbor", "battery", "vendor", "changed", "because", "of", "sonar", "logs", "are",
    "kept", "for", "ninety", "days", "Kestrel", "hull", "printed", "nylon", "and", "tide", "gauge",
    "drifts", "every", "month",
];

struct Ready {
    words: Vec<FoundChunk>,
    near: Vec<FoundChunk>,
}

impl Ready {
    fn new() -> Self {
        let found = |id: i64, strength: f64| FoundChunk {
            piece: MemoryChunk {
                id,
                source: ChunkSource::Memory,
                path: format!("memory/2026-0{}-1{}.md", 1 + id % 9, id % 10),
                start_line: 1,
                end_line: 20,
                text: text(id),
                modified_ms: 0,
            },
            strength,
        };
        let mut falling = 12.0;
        let mut next = || {
            falling *= 0.99;
            falling
        };
        Self {
            words: (0..CANDIDATES).map(|id| found(id, -next())).collect(),
            near: (100..100 + CANDIDATES)
                .map(|id| found(id, next() / 12.0))
                .collect(),
        }
    }
}

/// About 1,200 characters that differ from piece to piece.
fn text(seed: i64) -> String {
    let mut state = u64::try_from(seed).unwrap_or_default() + 1;
    let mut text = String::new();
    while text.len() < 1_200 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let at = usize::try_from(state >> 33).unwrap_or_default();
        text.push_str(WORDS[at % WORDS.len()]);
        text.push_str(if at % 11 == 0 { ".\n" } else { " " });
    }
    text
}

impl Finder for Ready {
    fn words(&self, _: &str, limit: usize, _: &Within) -> Result<Vec<FoundChunk>, FindError> {
        Ok(self.words.iter().take(limit).cloned().collect())
    }

    fn near(&self, _: &[f32], limit: usize, _: &Within) -> Result<Vec<FoundChunk>, FindError> {
        Ok(self.near.iter().take(limit).cloned().collect())
    }

    fn paths(&self, _: &[String], _: usize, _: &Within) -> Result<Vec<FoundChunk>, FindError> {
        Ok(Vec::new())
    }

    fn files(&self, _: &Within) -> Result<Vec<String>, FindError> {
        Ok(Vec::new())
    }

    fn openings(&self, _: &[&str], _: &Within) -> Result<Vec<MemoryChunk>, FindError> {
        Ok(Vec::new())
    }
}

impl Embedder for Ready {
    fn name(&self) -> &'static str {
        "bench/fixed"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(1)
    }

    fn batch(&self) -> usize {
        1
    }

    fn embed(&self, _: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![vec![1.0]])
    }
}

fn main() {
    divan::main();
}

/// A search that finds everything ready, so that only scoring, merging and ordering are left (and copying the candidates).
#[divan::bench(args = ["canonical", "openclaw-2026.9"])]
fn hybrid(bencher: divan::Bencher<'_, '_>, name: &str) {
    let rules = if name == "canonical" {
        MemoryRules::CANONICAL
    } else {
        MemoryRules::OPENCLAW_2026_9
    };
    let ready = Ready::new();
    let ask = SearchRequest {
        query: "battery vendor of the Kestrel hull",
        max_results: Some(25),
        now_ms: 1_777_636_800_000,
        ..SearchRequest::default()
    };
    bencher.bench(|| search(&ready, Some(&ready), &ask, &rules));
}

/// The floor: nothing but copying the candidates.
#[divan::bench]
fn copying_candidates(bencher: divan::Bencher<'_, '_>) {
    let ready = Ready::new();
    bencher.bench(|| (ready.words.clone(), ready.near.clone()));
}
