//! How transcripts are written (R15–R25).

use schemars::JsonSchema;
use serde::Serialize;

/// How transcripts are written (R15–R25). Files lie alike by every contract (R15); what stands in them differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TranscriptRules {
    /// The version in the first line (R21).
    pub header_version: u32,
    /// What names of records look like (R21).
    pub record_ids: RecordIds,
    /// How somebody's words are written (R22).
    pub user_content: UserContent,
    /// What of the run is noted in each message.
    pub run_marks: RunMarks,
    /// Whether the time is written into somebody's words, or only told to the model (R25).
    pub time_prefix: TimePrefix,
    /// The session id of a session that was asked for by name (R18).
    pub explicit_ids: ExplicitIds,
}

/// What names of records look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RecordIds {
    /// Eight hexadecimal digits.
    ShortHex,
    /// A UUID.
    Uuid,
}

/// How somebody's words are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UserContent {
    /// Always a list of blocks.
    Blocks,
    /// A plain string when they are nothing but text.
    PlainText,
}

/// What of the run is noted in each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunMarks {
    /// Nothing.
    None,
    /// Who spoke, which run it was, which model answered, and how full the model's window was.
    Noted,
}

/// Where the time before somebody's words stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TimePrefix {
    /// In the transcript and in what the model gets.
    Stored,
    /// Only in what the model gets.
    OnTheWire,
}

/// The session id of a session that was asked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ExplicitIds {
    /// A fresh one.
    Allotted,
    /// The name itself.
    AsNamed,
}

impl TranscriptRules {
    /// What the seed documents say: nothing about transcripts, so that of OpenClaw 2026.4.
    pub const CANONICAL: Self = Self::OPENCLAW_2026_4;
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        header_version: 3,
        record_ids: RecordIds::ShortHex,
        user_content: UserContent::Blocks,
        run_marks: RunMarks::None,
        time_prefix: TimePrefix::Stored,
        explicit_ids: ExplicitIds::Allotted,
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        header_version: 4,
        record_ids: RecordIds::Uuid,
        user_content: UserContent::PlainText,
        run_marks: RunMarks::Noted,
        time_prefix: TimePrefix::OnTheWire,
        explicit_ids: ExplicitIds::AsNamed,
    };
}
