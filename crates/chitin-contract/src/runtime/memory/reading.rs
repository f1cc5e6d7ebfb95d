//! How a window of a file is read (M50–M53).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// How a window of a file is read (M50–M53).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryReadRules {
    /// Whether what follows the last line break is a line although it is empty.
    pub final_line: FinalLine,
    /// Whether an answer says how the reading went.
    pub status: ReadStatusRule,
    /// What is said of a file that may not be read.
    pub refusal: ReadRefusal,
    /// The files in the workspace itself that may be read, as they are spelled.
    pub root_files: &'static [&'static str],
}

constants! {
    MemoryReadRules, "runtime.memory.reading":
    /// How many lines are shown when nothing is asked for.
    DEFAULT_LINES: u32 = 120;
    /// How many UTF-16 units are shown when nothing is asked for.
    DEFAULT_MAX_CHARS: u32 = 12_000;
    /// The directory of which all Markdown may be read.
    DIRECTORY: &'static str = "memory";
}

/// Whether what follows the last line break is a line although it is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FinalLine {
    /// It is.
    Counted,
    /// It is not.
    Ignored,
}

/// Whether an answer says how the reading went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadStatusRule {
    /// It does.
    Said,
    /// It does not.
    Unsaid,
}

/// What is said of a file that may not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ReadRefusal {
    /// The same as when there is no path at all.
    NoPath,
    /// Why.
    Reason,
}

impl MemoryReadRules {
    /// What the seed documents say, and where they are silent, what serves best.
    pub const CANONICAL: Self = Self {
        root_files: &["MEMORY.md", "memory.md", "DREAMS.md"],
        ..Self::OPENCLAW_2026_9
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        final_line: FinalLine::Counted,
        status: ReadStatusRule::Unsaid,
        refusal: ReadRefusal::NoPath,
        root_files: &["MEMORY.md", "DREAMS.md"],
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        final_line: FinalLine::Ignored,
        status: ReadStatusRule::Said,
        refusal: ReadRefusal::Reason,
        root_files: &["MEMORY.md", "USER.md", "DREAMS.md", "dreams.md"],
    };
}
