//! What the editor knows of the lines that are typed into it.

use crate::terminal::slash;
use reedline::{Completer, CompletionResult, Span, Suggestion, ValidationResult, Validator};

/// Names that can be completed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Keys of sessions.
    pub(crate) sessions: Vec<String>,
    /// Models, as `provider/name`.
    pub(crate) models: Vec<String>,
}

impl From<Vec<String>> for Known {
    fn from(sessions: Vec<String>) -> Self {
        Self {
            sessions,
            models: Vec::new(),
        }
    }
}

/// Completes commands, and the names that they take.
pub(super) struct Completion(pub(super) Known);

impl Completer for Completion {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        CompletionResult::fresh(self.suggestions(line, position))
    }
}

impl Completion {
    pub(super) fn suggestions(&self, line: &str, position: usize) -> Vec<Suggestion> {
        let before = line.get(..position).unwrap_or(line);
        let Some(typed) = before.strip_prefix('/') else {
            return Vec::new();
        };
        let suggest = |value: &str, begun: &str, description: Option<&str>| Suggestion {
            value: value.to_owned(),
            description: description.map(str::to_owned),
            span: Span::new(before.len() - begun.len(), before.len()),
            append_whitespace: false,
            ..Suggestion::default()
        };
        match typed.split_once(' ') {
            None => slash::commands()
                .filter(|(name, _)| name.starts_with(typed))
                .map(|(name, does)| suggest(name, typed, Some(does)))
                .collect(),
            Some((name, begun)) => {
                let names = match name {
                    "sessions" => &self.0.sessions,
                    "model" => &self.0.models,
                    _ => return Vec::new(),
                };
                let fitting = names.iter().filter(|name| name.starts_with(begun));
                fitting.map(|name| suggest(name, begun, None)).collect()
            }
        }
    }
}

/// Knows when a line goes on.
pub(super) struct Lines;

impl Validator for Lines {
    fn validate(&self, line: &str) -> ValidationResult {
        if goes_on(line) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Complete
        }
    }
}

/// Says whether the next line belongs to this one: a backslash at the end says so, two of them are one that is meant.
pub(super) fn goes_on(line: &str) -> bool {
    let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
    backslashes % 2 == 1
}
