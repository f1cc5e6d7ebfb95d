//! What is remembered, and how it is found again (M1–M81).

mod answers;
mod archive;
mod chunks;
mod files;
mod flow;
mod flush;
mod index;
mod lexical;
mod ranking;
mod reading;
mod sources;

pub use answers::*;
pub use archive::*;
pub use chunks::*;
pub use files::*;
pub use flow::*;
pub use flush::*;
pub use index::*;
pub use lexical::*;
pub use ranking::*;
pub use reading::*;
pub use sources::*;

use schemars::JsonSchema;
use serde::Serialize;

/// What is remembered, and how it is found again (M1–M81).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRules {
    /// What is searched, and where configuration speaks of it (M80, M81).
    pub sources: MemorySourceRules,
    /// Which files are memory (M1–M5).
    pub files: MemoryFileRules,
    /// How files are cut (M10–M17).
    pub chunks: ChunkRules,
    /// How words are kept, so that they are found again (M18).
    pub index: MemoryIndexRules,
    /// How words are looked for (M20–M23, M40, M41).
    pub lexical: LexicalRules,
    /// How what was found is put in order (M30–M35).
    pub ranking: RankingRules,
    /// How a window of a file is read (M50–M53).
    pub reading: MemoryReadRules,
    /// What the tools answer, and how places are cited (M43, M53, M60).
    pub answers: MemoryAnswerRules,
    /// When and how an agent is asked to write down what it will forget (M70, M71).
    pub flush: MemoryFlushRules,
    /// What of past conversations is remembered (M80).
    pub archive: ArchiveRules,
}

impl MemoryRules {
    /// What the seed documents say, and where they are silent, what finds most.
    pub const CANONICAL: Self = Self {
        sources: MemorySourceRules::CANONICAL,
        files: MemoryFileRules::CANONICAL,
        chunks: ChunkRules::CANONICAL,
        index: MemoryIndexRules::CANONICAL,
        lexical: LexicalRules::CANONICAL,
        ranking: RankingRules::CANONICAL,
        reading: MemoryReadRules::CANONICAL,
        answers: MemoryAnswerRules::CANONICAL,
        flush: MemoryFlushRules::CANONICAL,
        archive: ArchiveRules::CANONICAL,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        sources: MemorySourceRules::OPENCLAW_2026_4,
        files: MemoryFileRules::OPENCLAW_2026_4,
        chunks: ChunkRules::OPENCLAW_2026_4,
        index: MemoryIndexRules::OPENCLAW_2026_4,
        lexical: LexicalRules::OPENCLAW_2026_4,
        ranking: RankingRules::OPENCLAW_2026_4,
        reading: MemoryReadRules::OPENCLAW_2026_4,
        answers: MemoryAnswerRules::OPENCLAW_2026_4,
        flush: MemoryFlushRules::OPENCLAW_2026_4,
        archive: ArchiveRules::OPENCLAW_2026_4,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        sources: MemorySourceRules::OPENCLAW_2026_9,
        files: MemoryFileRules::OPENCLAW_2026_9,
        chunks: ChunkRules::OPENCLAW_2026_9,
        index: MemoryIndexRules::OPENCLAW_2026_9,
        lexical: LexicalRules::OPENCLAW_2026_9,
        ranking: RankingRules::OPENCLAW_2026_9,
        reading: MemoryReadRules::OPENCLAW_2026_9,
        answers: MemoryAnswerRules::OPENCLAW_2026_9,
        flush: MemoryFlushRules::OPENCLAW_2026_9,
        archive: ArchiveRules::OPENCLAW_2026_9,
    };
}
