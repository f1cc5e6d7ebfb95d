//! Errors as the user meets them: a kind that decides the exit code, a sentence, the chain below it, hints at the end.

use crate::exit_code::Exit;
use chitin_pack::{ExitKind, PackError};
use chitin_runtime::display::sentence;
use chitin_runtime::{ErrorKind, PackFailure, RuntimeError};
use std::error::Error;
use std::fmt;
use std::io;

/// What went wrong, for a person.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: FailureKind,
    message: String,
    /// The stable name of what went wrong, and what it is about, where there is one.
    class: Option<&'static str>,
    items: Vec<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
    hints: Vec<String>,
}

/// Whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The user named something that is not there or not usable.
    User,
    /// A configuration file is wrong.
    Config,
    /// The command line makes no sense, although it parses.
    Usage,
    /// A guard refused.
    Refused,
    /// A model's provider failed, or a turn ran into a limit.
    Upstream,
    /// Shipping an agent failed.
    Ship(ExitKind),
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The reader of our output went away.
    BrokenPipe,
    /// The machine failed, or we did.
    Internal,
}

impl CliError {
    /// Builds an error of that kind.
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            class: None,
            items: Vec::new(),
            source: None,
            hints: Vec::new(),
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Gives it the exit codes of the commands that ship agents, whatever it was before (rule P71).
    #[must_use]
    pub(crate) fn while_shipping(mut self) -> Self {
        self.kind = match self.kind {
            FailureKind::User | FailureKind::Config | FailureKind::Usage => {
                FailureKind::Ship(ExitKind::Input)
            }
            FailureKind::Refused => FailureKind::Ship(ExitKind::Local),
            FailureKind::Upstream => FailureKind::Ship(ExitKind::Registry),
            kept @ (FailureKind::Ship(_)
            | FailureKind::Interrupted
            | FailureKind::BrokenPipe
            | FailureKind::Internal) => kept,
        };
        self
    }

    /// Says whose move it is, where the caller knows better.
    #[must_use]
    pub(crate) fn with_kind(mut self, kind: FailureKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns the stable name of what went wrong, where there is one.
    pub(crate) const fn class(&self) -> Option<&'static str> {
        self.class
    }

    /// Returns what it is about, one by one.
    pub(crate) fn items(&self) -> &[String] {
        &self.items
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.kind == FailureKind::BrokenPipe
    }

    pub(crate) fn exit(&self) -> Exit {
        match self.kind {
            FailureKind::User => Exit::User,
            FailureKind::Config => Exit::Config,
            FailureKind::Usage => Exit::Usage,
            FailureKind::Refused => Exit::Refused,
            FailureKind::Upstream => Exit::Upstream,
            FailureKind::Ship(kind) => Exit::Ship(kind),
            FailureKind::Interrupted => Exit::Interrupted,
            FailureKind::BrokenPipe => Exit::Success,
            FailureKind::Internal => Exit::Internal,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CliError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

impl From<PackError> for CliError {
    fn from(error: PackError) -> Self {
        let mut shown = Self::new(
            FailureKind::Ship(error.exit()),
            sentence(&error.to_string()),
        );
        shown.class = Some(error.class().as_str());
        shown.items = error.items().to_vec();
        shown.hints = vec![error.advice().to_owned()];
        shown.source = error.into_source();
        shown
    }
}

impl From<RuntimeError> for CliError {
    fn from(error: RuntimeError) -> Self {
        let (kind, message, source, hints) = error.into_parts();
        Self {
            source,
            hints,
            ..Self::new(kind.into(), message)
        }
    }
}

impl From<PackFailure> for CliError {
    fn from(failure: PackFailure) -> Self {
        match failure {
            PackFailure::Setup(error) => error.into(),
            PackFailure::Build(error) => error.into(),
        }
    }
}

impl From<ErrorKind> for FailureKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::User => Self::User,
            ErrorKind::Config => Self::Config,
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Refused => Self::Refused,
            ErrorKind::Upstream => Self::Upstream,
            ErrorKind::Internal => Self::Internal,
        }
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
            FailureKind::BrokenPipe
        } else {
            FailureKind::Internal
        };
        Self::new(kind, "Could not write the output.").caused_by(error)
    }
}
