//! How what was found is put in order (M30–M35).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How what was found is put in order (M30–M35).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RankingRules {
    /// How the two lists, that of words and that of vectors, become one.
    pub fusion: Fusion,
    /// What is made of a cosine.
    pub cosine: CosineScore,
    /// Whether the best are looked at more closely, where what makes vectors can do that.
    pub closer_look: CloserLookRule,
    /// How many candidates each list gives.
    pub candidates: CandidateRules,
    /// What comes first among equals.
    pub ties: RankingTies,
    /// How age counts.
    pub decay: DecayRules,
    /// How near-copies are kept apart.
    pub diversity: DiversityRules,
    /// What else counts.
    pub factors: FactorRules,
    /// What is good enough.
    pub bar: BarRules,
}

/// How two lists become one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Fusion {
    /// Both scores, each with its weight.
    #[serde(rename_all = "camelCase")]
    WeightedSum {
        /// The weight of the vectors.
        vector: f64,
        /// The weight of the words.
        text: f64,
    },
    /// The places in both lists, each with its weight; scores play no part.
    #[serde(rename_all = "camelCase")]
    ReciprocalRanks {
        /// The weight of the vectors.
        vector: f64,
        /// The weight of the words.
        text: f64,
        /// How much the first places stand out: less is more.
        steepness: f64,
    },
}

/// What is made of a cosine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum CosineScore {
    /// It is the score.
    AsIs,
    /// A part of its range is stretched to 0 to 1, since texts that have nothing to do with each other are not at 0.
    #[serde(rename_all = "camelCase")]
    Stretched {
        /// What counts as nothing.
        nothing: f64,
        /// What counts as all.
        all: f64,
    },
}

/// How many candidates each list gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRules {
    /// So many times the results that are asked for,
    pub times: u32,
    /// but at least these
    pub least: u32,
}

constants! {
    CandidateRules, "runtime.memory.ranking.candidates":
    /// and at most these.
    MOST: u32 = 200;
}

/// What comes first among equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RankingTies {
    /// What was found first: vectors before words.
    AsFound,
    /// By path in this order, then by line.
    ByPlace(PathOrder),
}

/// In which order paths stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PathOrder {
    /// By the numbers of their characters.
    CodePoint,
    /// As in a dictionary.
    Locale,
}

/// How age counts (M32).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecayRules {
    /// Whether it counts when nothing is configured.
    pub default: RankingSwitch,
    /// After how many days half of what can be lost is lost.
    pub half_life_days: f64,
    /// The share of the score that is never lost.
    pub floor: f64,
    /// Which file names say a day.
    pub dates: DatedNames,
    /// Files in the root that never age.
    pub ageless: &'static [&'static str],
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RankingSwitch {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// Which file names say a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DatedNames {
    /// `memory/YYYY-MM-DD.md`.
    DailyNotes,
    /// That, in any folder below `memory/`, and with more words after the day.
    AnyDepthAndWords,
}

/// How near-copies are kept apart (M33).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiversityRules {
    /// Whether they are when nothing is configured.
    pub default: RankingSwitch,
    /// How much it counts to fit, against being unlike the others: 1 is nothing but fitting.
    pub lambda: f64,
    /// What is taken for how well something fits.
    pub fit: DiversityFit,
    /// Whether texts without words are alike.
    pub wordless: WordlessTexts,
    /// Whether it is done when only words were looked for.
    pub lexical: RankingSwitch,
    /// How many of the best are compared with each other; the others keep their place.
    pub window: u32,
}

/// What is taken for how well something fits, when near-copies are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DiversityFit {
    /// The score, stretched so that the best is 1 and the worst is 0, however near they are.
    Stretched,
    /// The score.
    AsScored,
}

/// Whether texts without words are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WordlessTexts {
    /// They are.
    Alike,
    /// If they are equal.
    AlikeIfEqual,
}

/// What else counts (M34).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FactorRules {
    /// What importance does.
    pub importance: ImportanceFactor,
    /// What belonging to a project does.
    pub project: ProjectFactor,
    /// What asking for a file by its name does.
    pub exact_path: ExactPath,
}

/// What importance does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ImportanceFactor {
    /// Nothing.
    None,
    /// The score is multiplied by a base and a step for each of its ten grades.
    #[serde(rename_all = "camelCase")]
    Graded {
        /// The base.
        base: f64,
        /// The step.
        step: f64,
    },
}

/// What belonging to a project does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ProjectFactor {
    /// Nothing.
    None,
    /// The score is multiplied.
    #[serde(rename_all = "camelCase")]
    Multiplied {
        /// By this for the project at hand,
        active: f64,
        /// by this for any other.
        other: f64,
    },
}

/// What asking for a file by its name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExactPath {
    /// Nothing.
    NotSpecial,
    /// The file comes first, with the best score.
    First,
}

/// What is good enough (M35).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BarRules {
    /// The least score, when nothing is configured.
    pub min_score: f64,
    /// What is done when words were found and nothing is good enough.
    pub relief: BarRelief,
}

constants! {
    BarRules, "runtime.memory.ranking.bar":
    /// How many results there are at most, when nothing is configured.
    MAX_RESULTS: u32 = 6;
}

/// What is done when words were found and nothing is good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BarRelief {
    /// Nothing is found.
    None,
    /// What was found by words has to reach the weight of words only; if only words were looked for, nothing.
    LowerBar,
    /// What was found by words is shown.
    WordsAnyway,
}

/// Whether the best pieces are looked at more closely: line by line and word by word.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum CloserLookRule {
    /// They are not.
    None,
    /// They are.
    #[serde(rename_all = "camelCase")]
    Best {
        /// How many.
        pieces: u32,
        /// How much that counts against the score that they had.
        weight: f64,
    },
}

impl RankingRules {
    /// The seed documents say nothing about ranking. Old notes stay findable, and near-copies do not fill the list.
    pub const CANONICAL: Self = Self {
        fusion: Fusion::WeightedSum {
            vector: 0.3,
            text: 0.7,
        },
        cosine: CosineScore::Stretched {
            nothing: 0.2,
            all: 0.8,
        },
        closer_look: CloserLookRule::Best {
            pieces: 32,
            weight: 0.7,
        },
        candidates: CandidateRules {
            times: 8,
            least: 64,
        },
        ties: RankingTies::ByPlace(PathOrder::CodePoint),
        decay: DecayRules {
            default: RankingSwitch::On,
            half_life_days: 180.0,
            floor: 0.9,
            dates: DatedNames::AnyDepthAndWords,
            ageless: &["MEMORY.md", "memory.md", "USER.md"],
        },
        diversity: DiversityRules {
            default: RankingSwitch::On,
            lambda: 0.9,
            fit: DiversityFit::AsScored,
            wordless: WordlessTexts::AlikeIfEqual,
            lexical: RankingSwitch::On,
            window: 48,
        },
        factors: FactorRules {
            importance: ImportanceFactor::Graded {
                base: 0.75,
                step: 0.05,
            },
            project: ProjectFactor::Multiplied {
                active: 1.15,
                other: 0.9,
            },
            exact_path: ExactPath::First,
        },
        bar: BarRules {
            min_score: 0.2,
            relief: BarRelief::None,
        },
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        fusion: Fusion::WeightedSum {
            vector: 0.7,
            text: 0.3,
        },
        cosine: CosineScore::AsIs,
        closer_look: CloserLookRule::None,
        candidates: CandidateRules { times: 4, least: 1 },
        ties: RankingTies::AsFound,
        decay: DecayRules {
            default: RankingSwitch::Off,
            half_life_days: 30.0,
            floor: 0.0,
            dates: DatedNames::DailyNotes,
            ageless: &["MEMORY.md", "memory.md"],
        },
        diversity: DiversityRules {
            default: RankingSwitch::Off,
            lambda: 0.7,
            fit: DiversityFit::Stretched,
            wordless: WordlessTexts::Alike,
            lexical: RankingSwitch::Off,
            window: u32::MAX,
        },
        factors: FactorRules {
            importance: ImportanceFactor::None,
            project: ProjectFactor::None,
            exact_path: ExactPath::NotSpecial,
        },
        bar: BarRules {
            min_score: 0.35,
            relief: BarRelief::LowerBar,
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        ties: RankingTies::ByPlace(PathOrder::Locale),
        candidates: CandidateRules {
            times: 4,
            least: 200,
        },
        decay: DecayRules {
            default: RankingSwitch::On,
            dates: DatedNames::AnyDepthAndWords,
            ageless: &["MEMORY.md", "USER.md"],
            ..Self::OPENCLAW_2026_4.decay
        },
        diversity: DiversityRules {
            default: RankingSwitch::On,
            wordless: WordlessTexts::AlikeIfEqual,
            ..Self::OPENCLAW_2026_4.diversity
        },
        factors: Self::CANONICAL.factors,
        bar: BarRules {
            relief: BarRelief::WordsAnyway,
            ..Self::OPENCLAW_2026_4.bar
        },
        ..Self::OPENCLAW_2026_4
    };
}
