//! Records: what loading a directory says about each file, as plain data for JSON output and other programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why the guard did not hand out a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileRefusal {
    /// A link on the way names something outside the root.
    OutsideRoot,
    /// A link on the way names something that does not exist.
    Dangling,
    /// More links than any honest path needs.
    Loop,
    /// A directory, FIFO, socket or device.
    NotAFile,
    /// A regular file with a second name, which may lie outside the root.
    Hardlinked,
    /// A link where the policy allows none.
    LinkNotAllowed,
    /// Larger than the contract reads at all.
    TooLarge,
    /// The tree changed under the reader more often than it was willing to start again.
    Unstable,
    /// The operating system refuses or fails to read it; only contracts that do not fail the whole load say this.
    Unreadable,
}

impl FileRefusal {
    /// Returns the reason as it stands in markers, warnings and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutsideRoot => "outside-root",
            Self::Dangling => "dangling",
            Self::Loop => "loop",
            Self::NotAFile => "not-a-file",
            Self::Hardlinked => "hardlinked",
            Self::LinkNotAllowed => "link-not-allowed",
            Self::TooLarge => "too-large",
            Self::Unstable => "unstable",
            Self::Unreadable => "unreadable",
        }
    }

    /// Says the reason in words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::OutsideRoot => "a link leads out of the workspace",
            Self::Dangling => "a link names something that does not exist",
            Self::Loop => "its links go in a circle",
            Self::NotAFile => "it is not a regular file",
            Self::Hardlinked => "it has a second name, which may lie outside the workspace",
            Self::LinkNotAllowed => "it is a link, and the contract allows none",
            Self::TooLarge => "it is larger than the contract reads",
            Self::Unstable => "it changed all the time while it was read",
            Self::Unreadable => "the operating system does not let it be read",
        }
    }
}

impl std::fmt::Display for FileRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much of an oversize file was kept, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OversizeFile {
    /// The size on disk.
    pub size: u64,
    /// What was kept of it.
    pub kept: u64,
}
