//! How words are kept, so that they are found again (M18).

use schemars::JsonSchema;
use serde::Serialize;

/// How words are kept, so that they are found again (M18).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryIndexRules {
    /// What is made of the forms of a word.
    pub forms: WordForms,
    /// What is made of scripts that put no spaces between words.
    pub unspaced: UnspacedScripts,
    /// Whether the words of a file's path and of the headings above a piece count too.
    pub titles: TitleWords,
    /// What becomes of words that are nearly everywhere, when a search asks for any of several.
    pub frequent: FrequentWords,
    /// Whether remarks about entries of files kept by hand are words like others (M17).
    pub remarks: RemarkWords,
}

/// What is made of the forms of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WordForms {
    /// Each is a word of its own; accents on Latin letters do not count.
    Apart,
    /// English forms are one word; no accents count.
    Stemmed,
}

/// What is made of scripts that put no spaces between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UnspacedScripts {
    /// A run of them is one word.
    WholeRuns,
    /// A run is kept as pairs of neighbours.
    Pairs,
}

/// Whether the words of a file's path and of the headings above a piece count too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TitleWords {
    /// They do not.
    Unkept,
    /// They do, so many times as much as a word of the text.
    Weighted(f64),
}

/// What becomes of words that are nearly everywhere, when a search asks for any of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FrequentWords {
    /// They find pieces like any other.
    Find,
    /// They find pieces only if no rarer word was asked for.
    LeaveToRarer,
}

/// Whether remarks about entries of files kept by hand are words like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RemarkWords {
    /// They are.
    Kept,
    /// They are not found.
    LeftOut,
}

impl MemoryIndexRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        forms: WordForms::Stemmed,
        unspaced: UnspacedScripts::Pairs,
        titles: TitleWords::Weighted(1.5),
        frequent: FrequentWords::LeaveToRarer,
        remarks: RemarkWords::LeftOut,
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        forms: WordForms::Apart,
        unspaced: UnspacedScripts::WholeRuns,
        titles: TitleWords::Unkept,
        frequent: FrequentWords::Find,
        remarks: RemarkWords::Kept,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        remarks: RemarkWords::LeftOut,
        ..Self::OPENCLAW_2026_4
    };
}
