//! Configuration files as text, and places in them.

use super::scan::{self, Step};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

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
    #[serde(skip)]
    map: Arc<SourceMap>,
}

/// Where values stand in a text; found out when first asked, because most configurations raise no questions.
#[derive(Debug, Default)]
struct SourceMap(OnceLock<Found>);

#[derive(Debug)]
struct Found {
    values: HashMap<Vec<Step>, usize>,
    /// The byte at which each line starts.
    lines: Vec<usize>,
}

/// The map follows from the text, so it never makes two files differ.
impl PartialEq for SourceMap {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SourceMap {}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceLocation {
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
            map: Arc::default(),
        }
    }

    fn found(&self) -> &Found {
        self.map.0.get_or_init(|| {
            let mut values = HashMap::new();
            scan::walk(&self.text, |path, at| {
                // The last of equal keys counts, as it does for the parser.
                values.insert(path.to_vec(), at);
                ControlFlow::Continue(())
            });
            let lines = std::iter::once(0)
                .chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1))
                .collect();
            Found { values, lines }
        })
    }

    /// Returns a line of the file, counted from one, without its end.
    pub fn line(&self, number: usize) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)?)
    }

    pub(super) fn place(&self, byte: usize) -> SourceLocation {
        let lines = &self.found().lines;
        let line = lines.partition_point(|start| *start <= byte);
        let start = lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start..byte).unwrap_or_default();
        SourceLocation {
            file: self.path.clone(),
            line,
            column: before.chars().count() + 1,
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
pub(super) fn find(files: &[ConfigFile], path: &[Step]) -> Option<SourceLocation> {
    for length in (0..=path.len()).rev() {
        let wanted = &path[..length];
        for file in files {
            let Some(inside) = wanted.strip_prefix(file.mount.as_slice()) else {
                continue;
            };
            if let Some(byte) = file.found().values.get(inside) {
                return Some(file.place(*byte));
            }
        }
    }
    None
}
