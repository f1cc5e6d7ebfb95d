//! What can be wrong with the set.

use chitin_guard::ReadError;
use std::fmt;
use thiserror::Error;

/// One thing that is wrong with the set.
#[derive(Debug, Error)]
pub(crate) enum Problem {
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    #[error("`{path}` is not UTF-8")]
    NotText { path: String },
    #[error("line {line} of `queries.jsonl` is not a query: {source}")]
    NotAQuery {
        line: usize,
        source: serde_json::Error,
    },
    #[error("`{id}` is the id of two queries")]
    SameId { id: String },
    #[error("`{id}` asks what another query asks")]
    SameText { id: String },
    #[error("`{id}` names `{path}`, which is not a note")]
    NoSuchNote { id: String, path: String },
    #[error("`{id}` quotes `{quote}`, which stands in no line of `{path}` that it may mean")]
    NoSuchQuote {
        id: String,
        path: String,
        quote: String,
    },
    #[error("`{id}` quotes `{quote}`, which stands in {lines:?} of `{path}`: say the line")]
    ManyLines {
        id: String,
        path: String,
        quote: String,
        lines: Vec<usize>,
    },
    #[error("`{id}` labels line {line} of `{path}` twice")]
    SameLine {
        id: String,
        path: String,
        line: usize,
    },
    #[error("`{id}` gives the grade {grade}; grades are 1, 2 and 3")]
    NoSuchGrade { id: String, grade: u8 },
    #[error("`{id}` has no label of grade 3; only a query of kind `nothing` has no answer")]
    NoAnswer { id: String },
    #[error("`{id}` is of kind `nothing` and has labels")]
    AnswerToNothing { id: String },
}

/// Everything that is wrong with the set.
pub(crate) struct Unsound(pub(crate) Vec<Problem>);

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            writeln!(f, "{problem}.")?;
        }
        Ok(())
    }
}

/// As it is shown to people: this is what a failed test and `main` print.
impl fmt::Debug for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Unsound {}

impl From<Problem> for Unsound {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}
