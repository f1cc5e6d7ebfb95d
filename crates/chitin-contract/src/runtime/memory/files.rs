//! Which files are memory (M1–M5).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::Serialize;

/// Which files are memory (M1–M5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFileRules {
    /// The files in the workspace itself that are memory, as they are spelled.
    pub root_files: &'static [&'static str],
    /// Files in the workspace itself that never are, even if a setting names them.
    pub never: &'static [&'static str],
}

constants! {
    MemoryFileRules, "runtime.memory.files":
    /// The directory of which all Markdown is memory.
    DIRECTORY: &'static str = "memory";
    /// A directory in which nothing is, wherever it is.
    SKIPPED_DIRECTORY: &'static str = ".openclaw-repair";
}

impl MemoryFileRules {
    /// What the seed documents say: either spelling of the file, and the directory.
    pub const CANONICAL: Self = Self {
        root_files: &["MEMORY.md", "memory.md"],
        never: &[],
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        root_files: &["MEMORY.md"],
        never: &["memory.md"],
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        root_files: &["MEMORY.md", "USER.md"],
        ..Self::OPENCLAW_2026_4
    };
}
