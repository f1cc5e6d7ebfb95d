//! Which turn wrote a line.

use crate::changes::TurnId;
use crate::diff::{MAX_COMPARED, PATIENCE, as_text, text_of};
use crate::entry::{ContentId, Entry};
use crate::error::UndoError;
use crate::history::History;
use crate::log::{self, Record};
use crate::look::READ;
use crate::path::FilePath;
use chitin_guard::{Oversized, ReadPolicy};
use serde::Serialize;
use similar::{DiffTag, TextDiff};
use std::collections::HashMap;

/// How many names of a file are followed back.
const MAX_NAMES: usize = 100;

/// A line, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlamedLine {
    /// Its number, counted from one.
    pub line: usize,
    /// What it says.
    pub text: String,
    /// The turns that were writing when it came; none if no recorded turn wrote it.
    pub turns: Vec<TurnId>,
}

/// A content that a file had, and the record that brought it.
struct Version {
    content: Option<(ContentId, u64)>,
    record: Option<usize>,
}

impl History {
    /// Says of every line of a file who wrote it, by the file as it is now.
    pub fn blame(&self, path: &FilePath) -> Result<Vec<BlamedLine>, UndoError> {
        let not_text = || UndoError::NotText {
            path: path.to_string(),
        };
        let workspace = chitin_guard::Root::open(&self.workspace)?;
        let policy = ReadPolicy {
            max_bytes: MAX_COMPARED,
            oversized: Oversized::Refuse,
            ..READ
        };
        let bytes = workspace.read(path.as_path(), &policy)?.bytes;
        let now = ContentId::of(&bytes);
        let now = (now, as_text(bytes).ok_or_else(not_text)?);
        let store = self.reader()?;
        let records = log::read(&store)?.records;
        let mut known: HashMap<ContentId, Vec<Option<usize>>> = HashMap::new();
        let mut last: (String, Vec<Option<usize>>) = (String::new(), Vec::new());
        for version in versions(&records, path) {
            let text = match version.content {
                None => Some(String::new()),
                Some((id, size)) => text_of(&store, id, size)?,
            };
            let Some(text) = text else {
                // What cannot be compared is where the trace ends.
                last = (String::new(), Vec::new());
                continue;
            };
            let id = version.content.map(|(id, _)| id);
            // Text that comes back, as by an undo, is of those who wrote it.
            let writers = match id.and_then(|id| known.get(&id)) {
                Some(writers) => writers.clone(),
                None => carried(&last, &text, version.record),
            };
            if let Some(id) = id {
                known.insert(id, writers.clone());
            }
            last = (text, writers);
        }
        let writers = match known.get(&now.0) {
            Some(writers) => writers.clone(),
            None => carried(&last, &now.1, None),
        };
        let lines = now.1.lines().enumerate();
        Ok(lines
            .map(|(at, text)| BlamedLine {
                line: at + 1,
                text: text.to_owned(),
                turns: writers
                    .get(at)
                    .copied()
                    .flatten()
                    .map(|record| records[record].turns.iter().map(TurnId::from).collect())
                    .unwrap_or_default(),
            })
            .collect())
    }

    /// Says of one line who wrote it.
    pub fn blame_line(&self, path: &FilePath, line: usize) -> Result<BlamedLine, UndoError> {
        let mut lines = self.blame(path)?;
        if line == 0 || line > lines.len() {
            return Err(UndoError::NoSuchLine {
                path: path.to_string(),
                lines: lines.len(),
            });
        }
        Ok(lines.swap_remove(line - 1))
    }
}

/// Returns the contents that a file had, the oldest first. A file that got its name by a move had others under its old one.
fn versions(records: &[Record], path: &FilePath) -> Vec<Version> {
    let mut newest_first = Vec::new();
    let mut path = path;
    let mut names = 0;
    for (at, record) in records.iter().enumerate().rev() {
        let Some(change) = record.changes.iter().find(|change| change.path == *path) else {
            continue;
        };
        let content = |entry: &Option<Entry>| match entry {
            Some(Entry::File { content, size, .. }) => Some((*content, *size)),
            Some(_) | None => None,
        };
        let after = content(&change.after);
        let moved_from = match (&change.before, after) {
            (None, Some((id, _))) if names < MAX_NAMES => record.changes.iter().find(|other| {
                other.after.is_none() && content(&other.before).is_some_and(|(old, _)| old == id)
            }),
            _ => None,
        };
        if let Some(moved) = moved_from {
            names += 1;
            path = &moved.path;
            // The move wrote nothing; what it moved came from elsewhere.
            newest_first.push(Version {
                content: content(&moved.before),
                record: None,
            });
            continue;
        }
        newest_first.push(Version {
            content: after,
            record: (!record.turns.is_empty()).then_some(at),
        });
        newest_first.push(Version {
            content: content(&change.before),
            record: None,
        });
    }
    newest_first.reverse();
    newest_first
}

/// Lines that stay keep their writer; lines that come are of the new one.
fn carried(
    (old, writers): &(String, Vec<Option<usize>>),
    new: &str,
    record: Option<usize>,
) -> Vec<Option<usize>> {
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_lines(old.as_str(), new);
    let mut out = Vec::new();
    for op in diff.ops() {
        match op.tag() {
            DiffTag::Equal => {
                out.extend(op.old_range().map(|at| writers.get(at).copied().flatten()));
            }
            DiffTag::Delete => {}
            DiffTag::Insert | DiffTag::Replace => {
                out.extend(op.new_range().map(|_| record));
            }
        }
    }
    out
}
