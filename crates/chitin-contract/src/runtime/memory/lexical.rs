//! How words are looked for (M20–M23, M40, M41).

use super::LexicalFlow;
use schemars::JsonSchema;
use serde::Serialize;

/// How words are looked for (M20–M23, M40, M41).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LexicalRules {
    /// Which words of a question are looked for.
    pub words: WordRules,
    /// How a search by words goes.
    pub flow: LexicalFlow,
}

/// Which words of a question are looked for (M20, M21).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WordRules {
    /// Which words say nothing.
    pub stop_words: StopWords,
}

/// Which words say nothing about what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StopWords {
    /// Those of English, Spanish, Portuguese, Arabic, Korean, Japanese and Chinese.
    SevenLanguages,
    /// These, and those of German, French, Italian, Russian and Dutch.
    TwelveLanguages,
}

impl WordRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        stop_words: StopWords::TwelveLanguages,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        stop_words: StopWords::SevenLanguages,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self::OPENCLAW_2026_4;
}

impl LexicalRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        words: WordRules::CANONICAL,
        flow: LexicalFlow::CANONICAL,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        words: WordRules::OPENCLAW_2026_4,
        flow: LexicalFlow::OPENCLAW_2026_4,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        words: WordRules::OPENCLAW_2026_9,
        flow: LexicalFlow::OPENCLAW_2026_9,
    };
}
