//! The part of a contract that is about the list of skills in the prompt.

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How skills are listed in the prompt, and what gives way when there is not enough room (S50–S59).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueRules {
    /// What becomes of a list that is longer (S55, S56).
    pub fitting: CatalogueFitting,
    /// How much of the model's window the list may take before descriptions are cut once more (S59).
    pub window_share: Option<WindowShare>,
    /// Whether a skill may say how its file is reached (S51).
    pub location_notes: LocationNotes,
    /// What the limits count for guidance and notices, which every program words for itself.
    pub prose: CountedProse,
}

constants! {
    CatalogueRules, "skills.catalogue":
    /// How many skills are listed at most (S54); configuration may change it.
    MAX_SKILLS: usize = 150;
    /// How long the list may be, in UTF-16 units (S55); configuration may change it, for one agent too (S57).
    MAX_CHARS: usize = 18_000;
}

/// What becomes of a list of skills that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CatalogueFitting {
    /// Descriptions are left out. The list alone is measured: notices before it do not count.
    #[serde(rename_all = "camelCase")]
    NamesOnly {
        /// What the short form leaves free of the limit, in place of counting the notice.
        notice_reserve: usize,
    },
    /// Descriptions are cut, to the largest length that fits; if none does, they are left out. Notices count, and one that
    /// does not fit is left out before the last skill is.
    Shortened {
        /// The smallest length worth printing, in UTF-16 units.
        shortest: usize,
        /// The largest length in this form.
        longest: usize,
    },
}

/// How much of the model's window a list of skills may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WindowShare {
    /// One UTF-16 unit is allowed for every so many tokens of the window.
    pub tokens_per_unit: usize,
    /// The length to which descriptions are cut even if that is not enough.
    pub shortest: usize,
    /// The largest length that is tried.
    pub longest: usize,
}

/// Whether a skill may say how its file is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LocationNotes {
    /// There is no such line.
    Unknown,
    /// A line below the location.
    Printed,
}

/// What limits count for guidance and notices.
///
/// The words are ours in every contract. But a limit decides which skills are listed, and a contract promises the same
/// skills as the real program lists. So where a program was recorded, limits count the lengths of *its* lines; ours are
/// never longer, so what is really printed keeps to the limit as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedProse {
    /// Our lines, as they are printed.
    Printed,
    /// The lines of the recorded program.
    Recorded(RecordedProse),
}

/// The lengths of a recorded program's lines, for each form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProse {
    /// With whole descriptions.
    pub full: RecordedLines,
    /// With descriptions that were cut; none when the program has no such form.
    pub shortened: Option<RecordedLines>,
    /// Without descriptions.
    pub compact: RecordedLines,
}

/// The lengths of a recorded program's lines in one form, in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedLines {
    /// The guidance above the list.
    pub guidance: usize,
    /// The notice that skills are missing, without the digits of its two numbers.
    pub truncated: usize,
    /// The notice about the form when no skill is missing; zero when there is none.
    pub complete: usize,
}

impl CatalogueRules {
    /// Recorded in 2026.4.23.
    pub const A: Self = Self {
        fitting: CatalogueFitting::NamesOnly {
            notice_reserve: 150,
        },
        window_share: None,
        location_notes: LocationNotes::Unknown,
        prose: CountedProse::Recorded(RecordedProse {
            full: RecordedLines {
                guidance: 326,
                truncated: 73,
                complete: 0,
            },
            shortened: None,
            compact: RecordedLines {
                guidance: 319,
                truncated: 112,
                complete: 100,
            },
        }),
    };
    /// Recorded in 2026.9.6.
    pub const B: Self = Self {
        fitting: CatalogueFitting::Shortened {
            shortest: 4,
            longest: 220,
        },
        window_share: Some(WindowShare {
            tokens_per_unit: 5,
            shortest: 64,
            longest: 220,
        }),
        location_notes: LocationNotes::Printed,
        prose: CountedProse::Recorded(RecordedProse {
            full: RecordedLines {
                guidance: 328,
                truncated: 73,
                complete: 0,
            },
            shortened: Some(RecordedLines {
                guidance: 336,
                truncated: 114,
                complete: 102,
            }),
            compact: RecordedLines {
                guidance: 321,
                truncated: 112,
                complete: 100,
            },
        }),
    };
    /// Canonical: A, measured as it is printed.
    pub const CANONICAL: Self = Self {
        prose: CountedProse::Printed,
        ..Self::A
    };
}
