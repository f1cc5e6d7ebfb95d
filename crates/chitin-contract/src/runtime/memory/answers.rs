//! What the tools answer, and how places are cited (M43, M53, M60).

use schemars::JsonSchema;
use serde::Serialize;

/// What the tools answer, and how places are cited (M43, M53, M60).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryAnswerRules {
    /// Whether a result says which body of text it is from.
    pub corpus: AnswerCorpus,
    /// How results are put in order once more before they are told.
    pub order: AnswerOrder,
    /// What the tool does when texts cannot be made vectors.
    pub without_vectors: WithoutVectors,
    /// Whether an answer says that only words were looked for.
    pub mode: AnswerMode,
    /// How a window of a file is told.
    pub windows: WindowAnswer,
    /// Where results may be from.
    pub corpora: &'static [&'static str],
}

/// Whether a result says which body of text it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnswerCorpus {
    /// It does not, where it is cited; the tool adds it.
    ToolOnly,
    /// It does.
    Always,
}

/// How results are put in order once more before they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnswerOrder {
    /// As the search gave them.
    Kept,
    /// By score, then by path.
    ByScoreThenPath,
}

/// What the tool does when texts cannot be made vectors, although that is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WithoutVectors {
    /// It says that it cannot search.
    Unavailable,
    /// It searches by words, and says so.
    Words,
}

/// Whether an answer says that only words were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AnswerMode {
    /// It does, in a mode and a note.
    Said,
    /// It does not.
    Unsaid,
}

/// How a window of a file is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WindowAnswer {
    /// As it is; what cannot be read is `disabled`.
    Bare,
    /// With a status; what cannot be read has a code.
    WithStatus,
}

impl MemoryAnswerRules {
    /// Like OpenClaw 2026.9, but an answer says how it was found.
    pub const CANONICAL: Self = Self {
        mode: AnswerMode::Said,
        ..Self::OPENCLAW_2026_9
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        corpus: AnswerCorpus::ToolOnly,
        order: AnswerOrder::ByScoreThenPath,
        without_vectors: WithoutVectors::Unavailable,
        mode: AnswerMode::Unsaid,
        windows: WindowAnswer::Bare,
        corpora: &["memory", "wiki", "all"],
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        corpus: AnswerCorpus::Always,
        order: AnswerOrder::Kept,
        without_vectors: WithoutVectors::Words,
        mode: AnswerMode::Unsaid,
        windows: WindowAnswer::WithStatus,
        corpora: &["memory", "wiki", "all", "sessions"],
    };
}
