//! How a search by words goes (M40, M41).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How a search by words goes (M40, M41).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LexicalFlow {
    /// What a piece has to hold.
    pub wanted: WantedWords,
    /// When each word is looked for by itself.
    pub single: SingleWords,
    /// How many words are looked for by themselves at most.
    pub single_limit: u32,
    /// Whether paths are searched too.
    pub paths: PathSearch,
    /// What days do that the query names.
    pub days: NamedDays,
    /// How well a piece fits.
    pub score: LexicalScore,
}

constants! {
    LexicalFlow, "runtime.memory.lexical.flow":
    /// How much of a piece is shown, in UTF-16 units (M23).
    SNIPPET_UNITS: u32 = 700;
}

/// What a piece has to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WantedWords {
    /// Every word of the query.
    All,
    /// Any word that says something.
    Any,
}

/// When each word is looked for by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SingleWords {
    /// Never.
    Never,
    /// When nothing holds all of them.
    WhenNothingHasAll,
    /// When no text holds all of them, or when the query has words that say nothing.
    WhenNoTextHasAllOrSomeSayNothing,
}

/// Whether paths are searched too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PathSearch {
    /// They are not.
    Not,
    /// They are, by the words of each search, ranked as texts are.
    Ranked,
    /// They are, for a file that the query names.
    NamedFiles,
}

/// What days do that the query names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum NamedDays {
    /// Nothing.
    Ignored,
    /// Notes of these days are found, and count more.
    #[serde(rename_all = "camelCase")]
    Counted {
        /// By so much.
        bonus: f64,
    },
}

/// How well a piece fits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum LexicalScore {
    /// The rank, and additions for words found, for words in the path and for length (M41).
    #[serde(rename_all = "camelCase")]
    Additions {
        /// Which words count.
        of: CountedWords,
        /// For the share of the words that the text has.
        share: f64,
        /// For these words among all of the text.
        density: f64,
        /// For each word in the path.
        path: f64,
        /// Text of this many UTF-16 units adds 1,
        length_units: f64,
        /// but at most this.
        length_most: f64,
    },
    /// The share of the words that the text has, rare ones counting more, blended with the rank and a little for words in the
    /// path and for words that stand together as they do in the query. All of it is 1.
    #[serde(rename_all = "camelCase")]
    Coverage {
        /// For the share.
        share: f64,
        /// For the rank.
        rank: f64,
        /// For words in the path or in the headings above.
        place: f64,
        /// For words that stand together.
        together: f64,
    },
}

/// Which words count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CountedWords {
    /// Those that were looked for.
    LookedFor,
    /// Those of the whole query.
    WholeQuery,
}

impl LexicalFlow {
    /// The seed documents say nothing about searching: any word that says something counts, the rarer the more.
    pub const CANONICAL: Self = Self {
        wanted: WantedWords::Any,
        single: SingleWords::Never,
        single_limit: 0,
        paths: PathSearch::NamedFiles,
        days: NamedDays::Counted { bonus: 0.45 },
        score: LexicalScore::Coverage {
            share: 0.6,
            rank: 0.25,
            place: 0.08,
            together: 0.07,
        },
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        wanted: WantedWords::All,
        single: SingleWords::WhenNothingHasAll,
        single_limit: u32::MAX,
        paths: PathSearch::Not,
        days: NamedDays::Ignored,
        score: LexicalScore::Additions {
            of: CountedWords::LookedFor,
            share: 0.45,
            density: 0.2,
            path: 0.18,
            length_units: 160.0,
            length_most: 0.18,
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        single: SingleWords::WhenNoTextHasAllOrSomeSayNothing,
        single_limit: 6,
        paths: PathSearch::Ranked,
        score: LexicalScore::Additions {
            of: CountedWords::WholeQuery,
            share: 0.45,
            density: 0.2,
            path: 0.18,
            length_units: 160.0,
            length_most: 0.18,
        },
        ..Self::OPENCLAW_2026_4
    };
}
