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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::User => 3,
            Exit::Config => 4,
            Exit::Refused => 5,
            Exit::Upstream => 6,
            Exit::Ship(kind) => kind.code(),
            Exit::Internal => 70,
            Exit::Interrupted => 130,
        })
    }
}
