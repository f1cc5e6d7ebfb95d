//! What could not be read, one by one.

use serde::Serialize;
use std::path::Path;

/// Something in a home that could not be read. The rest of the home is unaffected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HomeProblem {
    /// What it is about: a path in the state directory, with the table or session where that is known.
    pub place: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl HomeProblem {
    pub(crate) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Collects problems. A damaged home has more than anybody reads, so there is an end to them.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<HomeProblem>,
    left_out: usize,
}

/// More problems are counted, not kept.
const MAX_KEPT: usize = 1_000;

impl Problems {
    pub(crate) fn add(&mut self, problem: HomeProblem) {
        if self.found.len() < MAX_KEPT {
            self.found.push(problem);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn say(&mut self, place: impl AsRef<Path>, message: impl Into<String>) {
        let place = place.as_ref().display().to_string();
        self.add(HomeProblem::new(place, message));
    }

    pub(crate) fn finish(mut self) -> Vec<HomeProblem> {
        if self.left_out > 0 {
            let message = format!("{} more problems were found.", self.left_out);
            self.found.push(HomeProblem::new("", message));
        }
        self.found
    }
}

/// Writes an error with its causes, as one sentence.
pub(crate) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        let said = below.to_string();
        if !text.contains(&said) {
            text = format!("{}: {said}", text.trim_end_matches('.'));
        }
        cause = below.source();
    }
    let mut letters = text.chars();
    let begun: String = match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    };
    if begun.ends_with('.') {
        begun
    } else {
        begun + "."
    }
}
