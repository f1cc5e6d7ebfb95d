//! Errors as an embedder and a user meet them: a kind, a sentence, the chain below it, and hints.

use std::error::Error;
use std::fmt;

/// What went wrong, in a sentence, with what caused it and what to do about it.
#[derive(Debug)]
pub struct RuntimeError {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    hints: Vec<String>,
}

/// Who has to act on an error. A command line maps it to an exit code, a server to a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something that the caller named does not exist or cannot be used.
    User,
    /// A configuration file is wrong.
    Config,
    /// The request contradicts itself or names something unknown.
    Usage,
    /// A guard refused.
    Refused,
    /// A model provider failed, or a turn ran into a limit.
    Upstream,
    /// The machine failed, or this program did.
    Internal,
}

impl RuntimeError {
    /// Builds an error of that kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
            hints: Vec::new(),
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Adds what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns who has to act on it.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns what the user can do, most useful first.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// Returns the sentence with all that led to it, for whoever sees one line only.
    pub fn with_causes(&self) -> String {
        joined(self)
    }

    /// Takes the error apart, so that another error type can carry it.
    pub fn into_parts(
        self,
    ) -> (
        ErrorKind,
        String,
        Option<Box<dyn Error + Send + Sync>>,
        Vec<String>,
    ) {
        (self.kind, self.message, self.source, self.hints)
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RuntimeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

/// Returns what an error says without the numbers that the system has for its errors, such as `(os error 2)`: they help nobody
/// who reads the sentence.
pub fn without_numbers(said: &str) -> String {
    const MARK: &str = " (os error ";
    let mut plain = String::with_capacity(said.len());
    let mut rest = said;
    while let Some((before, after)) = rest.split_once(MARK) {
        plain.push_str(before);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        rest = match after[digits..].strip_prefix(')') {
            Some(behind) if digits > 0 => behind,
            _ => {
                plain.push_str(MARK);
                after
            }
        };
    }
    plain.push_str(rest);
    plain
}

/// Returns an error and all that led to it as one sentence, each cause behind a colon.
pub fn joined(error: &dyn Error) -> String {
    let mut text = without_numbers(&error.to_string());
    let is_sentence = text.ends_with('.');
    let mut source = error.source();
    while let Some(cause) = source {
        source = cause.source();
        let cause = without_numbers(&cause.to_string());
        let cause = cause.trim_end_matches('.');
        // Some errors say what led to them themselves.
        if !text.contains(cause) {
            text.truncate(text.trim_end_matches('.').len());
            text = format!("{text}: {cause}");
        }
    }
    if is_sentence && !text.ends_with('.') {
        text.push('.');
    }
    text
}
