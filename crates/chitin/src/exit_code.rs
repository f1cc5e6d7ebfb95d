//! Exit codes: one enum, one meaning each.

use chitin_pack::ExitKind;
use std::process::ExitCode;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Success,
    /// It worked, and what it found is not good: `check` with errors.
    Findings,
    /// The command line was wrong.
    Usage,
    /// Something that the user named is not there or not usable.
    User,
    /// A configuration file is wrong.
    Config,
    /// A guard refused.
    Refused,
    /// A model's provider failed, or a turn ran into a limit.
    Upstream,
    /// Shipping an agent failed: those commands have exit codes of their own, which the format lays down.
    Ship(ExitKind),
    /// A bug of ours, or the machine failed.
    Internal,
    /// The user pressed Ctrl-C.
    Interrupted,
}

impl Exit {
    /// Returns the number.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::User => 3,
            Self::Config => 4,
            Self::Refused => 5,
            Self::Upstream => 6,
            Self::Ship(kind) => kind.code(),
            Self::Internal => 70,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
