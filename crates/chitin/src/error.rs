//! Errors as the user meets them: a kind that decides the exit code, a sentence, the chain below it, hints at the end.

use crate::exit_code::Exit;
use std::error::Error;
use std::fmt;
use std::io;

/// What went wrong, for a person.
#[derive(Debug)]
pub(crate) struct CliError {
    kind: Kind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    hints: Vec<String>,
}

/// Whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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
    /// The reader of our output went away.
    BrokenPipe,
    /// The machine failed, or we did.
    Internal,
}

impl CliError {
    /// Builds an error of that kind.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            hints: Vec::new(),
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Adds what caused it, whatever its type.
    #[must_use]
    pub(crate) fn caused_by_boxed(mut self, source: Box<dyn Error + Send + Sync>) -> Self {
        self.source = Some(source);
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.kind == Kind::BrokenPipe
    }

    pub(crate) fn exit(&self) -> Exit {
        match self.kind {
            Kind::User => Exit::User,
            Kind::Config => Exit::Config,
            Kind::Usage => Exit::Usage,
            Kind::Refused => Exit::Refused,
            Kind::Upstream => Exit::Upstream,
            Kind::BrokenPipe => Exit::Success,
            Kind::Internal => Exit::Internal,
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

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
            Kind::BrokenPipe
        } else {
            Kind::Internal
        };
        Self::new(kind, "The output could not be written.").caused_by(error)
    }
}
