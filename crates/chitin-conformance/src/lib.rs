//! Runs recorded conformance cases against Chitin and counts what holds.
//!
//! In: directories of case files. Out: one [`Tally`] per family, with every failing check and its difference. A case whose
//! operation belongs to a part that is not built yet counts as `not yet`, never as passed.

pub mod case;
pub mod exceptions;
mod families;
mod homes;
pub mod report;
pub mod stage;
pub mod tree;
mod unprivileged;

pub use case::{Case, Check};
pub use report::{Report, Tally};

use serde_json::Value;
use std::path::PathBuf;

/// What one check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The result equals the recorded one.
    Passed,
    /// It does not; the text shows how.
    Failed(String),
    /// The operation belongs to a part that is not built yet.
    NotYet,
}

impl Outcome {
    /// Compares a result with the recorded one.
    pub fn judge(expected: &Value, actual: &Value) -> Self {
        if expected == actual {
            return Self::Passed;
        }
        let (expected, actual) = (pretty(expected), pretty(actual));
        let diff = similar::TextDiff::from_lines(&expected, &actual);
        Self::Failed(
            diff.unified_diff()
                .context_radius(2)
                .header("recorded", "ours")
                .to_string(),
        )
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Runs every case beneath the given directories.
pub fn run(directories: &[PathBuf]) -> anyhow::Result<Report> {
    let exceptions = exceptions::built_in()?;
    let mut report = Report::default();
    for directory in directories {
        for case in case::find(directory)? {
            let mut worst = Outcome::Passed;
            let mut failures = Vec::new();
            for check in case.checks() {
                match families::run(&check) {
                    Outcome::Passed => {}
                    Outcome::NotYet => worst = Outcome::NotYet,
                    Outcome::Failed(difference) => failures.push((check.label(), difference)),
                }
            }
            report.add(&case, &worst, failures, &exceptions);
        }
        for home in homes::find(directory)? {
            for (case, outcome) in homes::run(&home)? {
                let failures = match &outcome {
                    Outcome::Failed(difference) => vec![(case.id.clone(), difference.clone())],
                    Outcome::Passed | Outcome::NotYet => Vec::new(),
                };
                report.add(&case, &outcome, failures, &exceptions);
            }
        }
    }
    Ok(report)
}
