//! Configuration files as text, and places in them.

use super::scan::{self, Step};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// One file that configuration was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The dotted path of the value that it was included at; empty for the first file.
    pub at: String,
    /// What it says.
    #[serde(skip)]
    pub text: Arc<str>,
    #[serde(skip)]
    pub(super) mount: Vec<Step>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from one.
    pub line: usize,
    /// The column in characters, counted from one.
    pub column: usize,
}

impl ConfigFile {
    pub(super) fn new(path: PathBuf, text: Arc<str>, mount: Vec<Step>) -> Self {
        Self {
            path,
            at: scan::dotted(&mount),
            text,
            mount,
        }
    }

    /// Returns a line of the file, counted from one, without its end.
    pub fn line(&self, number: usize) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)?)
    }

    pub(super) fn place(&self, byte: usize) -> Place {
        let (line, column) = line_and_column(&self.text, byte);
        Place {
            file: self.path.clone(),
            line,
            column,
        }
    }
}

/// Returns line and column of a byte, both counted from one, the column in characters.
pub(super) fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (
        before.matches('\n').count() + 1,
        before[start..].chars().count() + 1,
    )
}

/// Finds where a value was said. Files come in the order of their say: the first that has the value wins. A value that
/// stands nowhere, or moved because arrays were joined, is placed at the nearest value around it.
pub(super) fn find(files: &[ConfigFile], path: &[Step]) -> Option<Place> {
    for length in (0..=path.len()).rev() {
        let wanted = &path[..length];
        for file in files {
            let Some(inside) = wanted.strip_prefix(file.mount.as_slice()) else {
                continue;
            };
            if let Some(byte) = scan::locate(&file.text, inside) {
                return Some(file.place(byte));
            }
        }
    }
    None
}
