//! What a sandbox holds, said as it is.

use super::limits::CommandLimits;
use serde::{Deserialize, Serialize};

/// What a command runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxLevel {
    /// Namespaces of its own by `bwrap`, with a system call filter.
    Bwrap,
    /// Landlock rules, with a system call filter.
    Landlock,
    /// Nothing.
    None,
}

impl SandboxLevel {
    /// Returns the name that settings and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }
}

/// Whether something is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// The kernel enforces it.
    Enforced,
    /// The settings open it.
    Opened,
    /// Nothing enforces it.
    Missing,
}

/// What is enforced for a command, and what is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxReport {
    /// The level.
    pub level: SandboxLevel,
    /// Files outside the workspace can't be read, and not be written to.
    pub files: Guard,
    /// No connection can be made.
    pub network: Guard,
    /// Processes outside can't be signalled, traced or looked into.
    pub processes: Guard,
    /// How much of the machine a command may use.
    pub limits: CommandLimits,
    /// What the level does not hold, in sentences.
    pub gaps: Vec<String>,
}

impl SandboxReport {
    /// Returns the report of a command that nothing holds.
    pub fn none(limits: CommandLimits) -> Self {
        Self {
            level: SandboxLevel::None,
            files: Guard::Missing,
            network: Guard::Missing,
            processes: Guard::Missing,
            limits,
            gaps: vec!["The command has all the rights of the user.".to_owned()],
        }
    }

    /// Says whether a command may run without anybody being asked.
    pub fn holds(&self) -> bool {
        self.files == Guard::Enforced && self.network != Guard::Missing
    }
}
