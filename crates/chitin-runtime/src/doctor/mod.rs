//! Whether everything is there that an agent needs to run here. Nothing is changed unless that is asked for: secrets in recordings and
//! files that killed processes left.

mod leftovers;
mod machine;
mod network;
mod recordings;

pub(crate) use leftovers::clear;

use crate::error::RuntimeError;
use crate::{Host, Setup};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// So many files are named.
const MOST_NAMED: usize = 5;

/// What is done about what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoctorFix {
    /// It is said.
    Nothing,
    /// Secrets are taken out of recordings, and what killed processes left is removed.
    All,
}

/// Looks for what would keep an agent from running here: configuration, permissions, port, sandbox; then, unless `offline`, the model's
/// provider and the chat channels, which are only asked whether they are there and know us.
pub async fn diagnose(
    host: &Host,
    setup: &Setup,
    state: &Path,
    model: Option<&str>,
    offline: bool,
    fix: DoctorFix,
) -> Vec<DoctorCheck> {
    let mut checks = machine::look(host, setup, state);
    checks.extend(recordings::look(host, state, fix));
    checks.extend(leftovers::look(&[state, &setup.directory], fix));
    checks.extend(network::look(host, setup, state, model, offline).await);
    checks
}

/// Something that was looked at.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DoctorCheck {
    /// What part it belongs to.
    pub area: &'static str,
    /// How it is.
    pub verdict: DoctorVerdict,
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DoctorVerdict {
    /// As it should be.
    Fine,
    /// It works, and could be better.
    Odd,
    /// It is in the way.
    Wrong,
    /// It was not looked at.
    Skipped,
}

impl DoctorCheck {
    fn fine(area: &'static str, message: impl Into<String>) -> Self {
        Self::new(area, DoctorVerdict::Fine, message, None)
    }

    fn odd(area: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, DoctorVerdict::Odd, message, Some(hint.into()))
    }

    fn wrong(area: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, DoctorVerdict::Wrong, message, Some(hint.into()))
    }

    fn new(
        area: &'static str,
        verdict: DoctorVerdict,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Self {
        Self {
            area,
            verdict,
            message: message.into(),
            hint: hint.filter(|hint| !hint.is_empty()),
        }
    }

    /// Says an error as something that is in the way.
    fn of_error(area: &'static str, error: &RuntimeError) -> Self {
        let hint = error.hints().first().cloned();
        Self::new(area, DoctorVerdict::Wrong, error.with_causes(), hint)
    }
}

/// Names some files.
fn named(files: &[PathBuf]) -> String {
    let shown = files.iter().take(MOST_NAMED);
    let shown: Vec<String> = shown.map(|file| format!("`{}`", file.display())).collect();
    let mut text = shown.join(", ");
    if files.len() > MOST_NAMED {
        let _ = write!(text, " and {} more", files.len() - MOST_NAMED);
    }
    text
}
