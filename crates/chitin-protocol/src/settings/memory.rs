//! What is remembered, and how it is found again.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is remembered, and how it is found again. What is left out is as `openclaw.json` and the contract say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct MemorySettings {
    /// Whether there is a memory to search at all; left out, there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// What is searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<MemorySource>>,
    /// Further Markdown files and directories, relative to the workspace or absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_paths: Option<Vec<String>>,
    /// How many results a search gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<u32>,
    /// The minimum score of a result, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<Fraction>,
    /// Whether results say where they stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<CitationSetting>,
    /// What is looked up for every message, without being asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<RecallSettings>,
    /// How texts that mean the same without sharing words are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<EmbeddingSettings>,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MemorySource {
    /// `MEMORY.md` and the files below `memory/`.
    Memory,
    /// Past conversations.
    Sessions,
}

/// Whether results say where they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CitationSetting {
    /// Always.
    On,
    /// Never.
    Off,
    /// Where nobody else reads along.
    Auto,
}

/// What is looked up for every message, without being asked to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RecallSettings {
    /// Whether anything is; left out, the contract says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How many results there are at most; left out, 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<u32>,
    /// How many tokens they take at most; left out, 1,200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// How well a result must fit, from 0 to 1; left out, 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<Fraction>,
    /// Where the results go; left out, into the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<RecallPlace>,
}

/// Where in a request recalled memory goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RecallPlace {
    /// Into the system prompt, below the cache boundary and before the history: providers read the history again whenever the
    /// results change.
    #[default]
    System,
    /// Into the user's message, after the user's text. The transcript keeps it, so later requests begin with the same bytes.
    Message,
}

/// How texts that mean the same without sharing words are found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct EmbeddingSettings {
    /// `none`, `words` (a table of word vectors on this machine), or the id of a provider; left out, `words` if there is a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The provider's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The table of word vectors; left out, `models/words.table` in Chitin's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A number from 0 to 1, exact to a ten-thousandth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
pub struct Fraction(#[schemars(with = "f64", range(min = 0.0, max = 1.0))] u16);

impl Fraction {
    const WHOLE: f64 = 10_000.0;

    /// Makes a share of a number; one outside 0 to 1 is none.
    pub fn new(number: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&number) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was looked at"
        )]
        Some(Self((number * Self::WHOLE).round() as u16))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        f64::from(self.0) / Self::WHOLE
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.get())
    }
}

impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| D::Error::custom("a score is a number from 0 to 1"))
    }
}
