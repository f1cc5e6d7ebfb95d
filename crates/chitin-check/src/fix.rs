//! Fixes: only changes that alter no meaning, each in one step.

use super::finding::{Finding, Fix};
use super::gather::Bounds;
use chitin_guard::{ReadError, ReadPolicy, Root, WriteError};
use serde::Serialize;
use std::path::Path;
use thiserror::Error;

/// A fix and the file it is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedFix {
    /// The file, relative to the workspace; `.` is the directory itself.
    pub path: String,
    /// The code of the finding that asks for it.
    pub code: &'static str,
    /// What to do.
    #[serde(flatten)]
    pub fix: Fix,
}

/// Why a fix was not made; the file is as it was.
#[derive(Debug, Error)]
pub enum FixError {
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Returns the fixes that findings offer, in order and without repetition.
pub fn planned(findings: &[Finding]) -> Vec<PlannedFix> {
    let mut planned: Vec<PlannedFix> = Vec::new();
    for finding in findings {
        let Some(fix) = finding.fix else { continue };
        let next = PlannedFix {
            path: finding.path.clone(),
            code: finding.code,
            fix,
        };
        if !planned.contains(&next) {
            planned.push(next);
        }
    }
    planned
}

/// Makes one fix.
pub fn apply(root: &Root, planned: &PlannedFix) -> Result<(), FixError> {
    let path = Path::new(&planned.path);
    match planned.fix {
        Fix::StripByteOrderMark => {
            let policy = ReadPolicy::inside(Bounds::default().file_bytes);
            let read = root.read(path, &policy)?;
            let mut rest = &*read.bytes;
            while let Some(stripped) = rest.strip_prefix(b"\xef\xbb\xbf") {
                rest = stripped;
            }
            if rest.len() < read.bytes.len() {
                root.replace(path, rest)?;
            }
        }
        Fix::RemovePermissions { bits } => root.remove_permissions(path, bits & 0o022)?,
    }
    Ok(())
}
