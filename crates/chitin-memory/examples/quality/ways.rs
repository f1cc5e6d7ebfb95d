//! The ways of searching that are compared: the default, and the default without one of its parts.

use crate::metrics::HitRef;
use crate::set::Set;
use chitin_contract::{CloserLookRule, Fusion, MemoryRules, RankingSwitch, WordForms};
use chitin_memory::chunk::{self, ChunkOptions};
use chitin_memory::embed::Embedder;
use chitin_memory::index::{Index, JobFile, NewPiece, Shape, SyncJob};
use chitin_memory::search::{self, ChunkSource, FindError, SearchRequest};

/// The day on which the questions are asked: the last note is a few days old.
const NOW_MS: i64 = 1_777_593_600_000;
/// How many results are asked for.
const RESULTS: usize = 10;

/// A way of searching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Lexical,
    LexicalNoStemming,
    LexicalNoDecay,
    LexicalNoDiversity,
    Hybrid,
    HybridNoCloserLook,
    HybridNoDiversity,
    VectorsOnly,
    OpenClaw4,
    OpenClaw9,
}

pub(crate) const ALL: [Way; 10] = [
    Way::Lexical,
    Way::LexicalNoStemming,
    Way::LexicalNoDecay,
    Way::LexicalNoDiversity,
    Way::Hybrid,
    Way::HybridNoCloserLook,
    Way::HybridNoDiversity,
    Way::VectorsOnly,
    Way::OpenClaw4,
    Way::OpenClaw9,
];

impl Way {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Lexical => "words",
            Self::LexicalNoStemming => "words, no stemming",
            Self::LexicalNoDecay => "words, no decay",
            Self::LexicalNoDiversity => "words, no diversity",
            Self::Hybrid => "words and vectors",
            Self::HybridNoCloserLook => "… no closer look",
            Self::HybridNoDiversity => "… no diversity",
            Self::VectorsOnly => "vectors only",
            Self::OpenClaw4 => "openclaw-2026.4, words",
            Self::OpenClaw9 => "openclaw-2026.9, words",
        }
    }

    pub(crate) const fn needs_vectors(self) -> bool {
        matches!(
            self,
            Self::Hybrid | Self::HybridNoCloserLook | Self::HybridNoDiversity | Self::VectorsOnly
        )
    }

    /// Says whether it is what a user gets.
    pub(crate) const fn is_default(self, with_vectors: bool) -> bool {
        matches!(
            (self, with_vectors),
            (Self::Lexical, false) | (Self::Hybrid, true)
        )
    }

    fn rules(self) -> MemoryRules {
        let mut rules = match self {
            Self::OpenClaw4 => MemoryRules::OPENCLAW_2026_4,
            Self::OpenClaw9 => MemoryRules::OPENCLAW_2026_9,
            _ => MemoryRules::CANONICAL,
        };
        match self {
            Self::Lexical | Self::Hybrid | Self::OpenClaw4 | Self::OpenClaw9 => {}
            Self::LexicalNoStemming => {
                rules.index.forms = WordForms::Apart;
            }
            Self::LexicalNoDecay => rules.ranking.decay.default = RankingSwitch::Off,
            Self::LexicalNoDiversity | Self::HybridNoDiversity => {
                rules.ranking.diversity.default = RankingSwitch::Off;
            }
            Self::HybridNoCloserLook => rules.ranking.closer_look = CloserLookRule::None,
            Self::VectorsOnly => {
                rules.ranking.fusion = Fusion::WeightedSum {
                    vector: 1.0,
                    text: 0.0,
                };
                rules.ranking.closer_look = CloserLookRule::None;
            }
        }
        rules
    }
}

/// Puts the notes into an index that lives in memory.
pub(crate) fn index(
    set: &Set,
    way: Way,
    embedder: Option<&dyn Embedder>,
) -> Result<Index, FindError> {
    let rules = way.rules();
    let embedder = embedder.filter(|_| way.needs_vectors());
    let shape = Shape::new(rules.index);
    let shape = match embedder {
        Some(embedder) => shape.embedded_by(embedder),
        None => shape,
    };
    let mut index = Index::volatile_of(&shape)?;
    let options = ChunkOptions::configured(None, None, &rules.chunks);
    let cut = |path: &str, text: &str, out: &mut dyn FnMut(NewPiece<'_>)| {
        for piece in chunk::of_file(path, text, options, &rules.chunks) {
            out(NewPiece {
                start_line: piece.start_line,
                end_line: piece.end_line,
                text: &piece.text,
                heading: piece.heading.as_deref(),
            });
        }
    };
    let files: Vec<JobFile<'_>> = set
        .notes
        .iter()
        .map(|note| given(&note.path, &note.text))
        .collect();
    index.sync(&SyncJob {
        embedder,
        ..SyncJob::new(files, &[ChunkSource::Memory], &cut)
    });
    Ok(index)
}

fn given<'a>(path: &str, text: &'a str) -> JobFile<'a> {
    JobFile {
        source: ChunkSource::Memory,
        path: path.to_owned(),
        fingerprint: chitin_guard::Fingerprint::default(),
        read: Box::new(move || {
            Ok(chitin_memory::index::FileText {
                bytes: text.as_bytes().into(),
                lines: None,
            })
        }),
    }
}

/// Asks a question.
pub(crate) fn search(
    index: &Index,
    way: Way,
    embedder: Option<&dyn Embedder>,
    query: &str,
) -> Vec<HitRef> {
    let embedder = embedder.filter(|_| way.needs_vectors());
    let ask = SearchRequest {
        query,
        max_results: Some(RESULTS),
        now_ms: NOW_MS,
        ..SearchRequest::default()
    };
    let Ok(answer) = search::search(index, embedder, &ask, &way.rules()) else {
        return Vec::new();
    };
    let hits = answer.hits.into_iter();
    hits.map(|hit| HitRef {
        path: hit.piece.path,
        start_line: hit.piece.start_line as usize,
        end_line: hit.piece.end_line as usize,
    })
    .collect()
}
