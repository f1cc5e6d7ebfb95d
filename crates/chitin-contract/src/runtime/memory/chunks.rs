//! How files are cut (M10–M17).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How files are cut (M10–M17).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChunkRules {
    /// Whether other sizes can be configured.
    pub sizes: ChunkSizes,
    /// What the characters count.
    pub weights: CharacterWeights,
    /// Where a piece of a line is cut that weighs more than a chunk.
    pub heavy_lines: HeavyLines,
    /// How much is carried from one chunk to the next.
    pub overlap: ChunkOverlap,
    /// Whether files that are kept by hand are cut by entry.
    pub curated: CuratedFiles,
    /// Whether a chunk knows the headings above it.
    pub headings: ChunkHeadings,
}

constants! {
    ChunkRules, "runtime.memory.chunks":
    /// How large a chunk is when nothing is configured, in tokens.
    DEFAULT_TOKENS: u32 = 400;
    /// How much of a chunk stands in the next one too when nothing is configured, in tokens.
    DEFAULT_OVERLAP: u32 = 80;
}

/// Whether the sizes of chunks can be configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChunkSizes {
    /// They can.
    Configured,
    /// They are what they are.
    Fixed,
}

/// What the characters count. What is in no table counts its UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CharacterWeights {
    /// Four for what is written without spaces.
    Plain,
    /// Four to sixteen: rare characters of these scripts are several tokens each.
    Graded,
}

/// Where a piece of a line is cut that weighs more than a chunk. It has no more UTF-16 units than a chunk: longer lines are cut
/// after so many before they are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HeavyLines {
    /// After as many units as a chunk has tokens.
    Steps,
    /// As late as the weight allows.
    Weight,
}

/// How much is carried from one chunk to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChunkOverlap {
    /// Whole lines, until there is enough.
    Enough,
    /// Whole lines while they fit the overlap and leave room for the next line; of a last line that does not fit, its end.
    Fitting,
}

/// Whether files that are kept by hand are cut by entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CuratedFiles {
    /// They are cut like any other.
    LikeOthers,
    /// An item of a list or a heading begins a unit; no chunk has parts of two. Remarks in comments are facts, not text.
    ByEntry,
}

/// Whether a chunk knows the headings above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChunkHeadings {
    /// It does not.
    Unknown,
    /// It does. They help to find it and are never shown.
    Known,
}

impl ChunkRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        sizes: ChunkSizes::Configured,
        headings: ChunkHeadings::Known,
        ..Self::OPENCLAW_2026_9
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        sizes: ChunkSizes::Configured,
        weights: CharacterWeights::Plain,
        heavy_lines: HeavyLines::Steps,
        overlap: ChunkOverlap::Enough,
        curated: CuratedFiles::LikeOthers,
        headings: ChunkHeadings::Unknown,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        sizes: ChunkSizes::Fixed,
        weights: CharacterWeights::Graded,
        heavy_lines: HeavyLines::Weight,
        overlap: ChunkOverlap::Fitting,
        curated: CuratedFiles::ByEntry,
        headings: ChunkHeadings::Unknown,
    };
}
