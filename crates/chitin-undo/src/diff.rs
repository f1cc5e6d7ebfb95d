//! The difference that a change made, line by line.

use crate::entry::{Change, ContentId, Entry};
use crate::error::UndoError;
use crate::history::History;
use crate::objects;
use chitin_guard::Root;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Larger files are not compared.
pub(crate) const MAX_COMPARED: u64 = 1 << 20;
/// How many lines that are the same stand around a change.
const AROUND: usize = 3;
/// How many lines of a difference are shown.
const MAX_LINES: usize = 4_000;
/// How long the search for the shortest difference may take; after that, any will do.
pub(crate) const PATIENCE: Duration = Duration::from_millis(300);

/// How many lines came and went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LineCount {
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

/// The difference between two contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// How many lines came and went; nothing if the contents are not compared line by line.
    pub count: Option<LineCount>,
    /// The lines around the changes.
    pub lines: Vec<DifferenceLine>,
    /// Whether there are more lines than are shown.
    pub is_shortened: bool,
}

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DifferenceLine {
    /// Where a group of changes begins, both counted from one.
    Place {
        /// The line in the old content.
        before: usize,
        /// The line in the new content.
        after: usize,
    },
    /// A line of both.
    Same {
        /// The line.
        text: String,
    },
    /// A line that came.
    Added {
        /// The line.
        text: String,
    },
    /// A line that went.
    Removed {
        /// The line.
        text: String,
    },
}

impl History {
    /// Counts the lines that a change added and removed; nothing where that cannot be said.
    pub fn count(&self, change: &Change) -> Result<Option<LineCount>, UndoError> {
        let store = self.reader()?;
        Ok(texts(&store, change)?.map(|(before, after)| count(&before, &after)))
    }

    /// Compares what stood under a name before and after a change.
    pub fn difference(&self, change: &Change) -> Result<Difference, UndoError> {
        let store = self.reader()?;
        let Some((before, after)) = texts(&store, change)? else {
            return Ok(Difference::default());
        };
        Ok(difference(&before, &after))
    }
}

/// Returns both contents if they are texts; one that is not there is empty.
fn texts(store: &Root, change: &Change) -> Result<Option<(String, String)>, UndoError> {
    let is_file = |entry: &Option<Entry>| matches!(entry, Some(Entry::File { .. }) | None);
    if !is_file(&change.before) || !is_file(&change.after) {
        return Ok(None);
    }
    let Some(before) = text(store, change.before.as_ref())? else {
        return Ok(None);
    };
    let Some(after) = text(store, change.after.as_ref())? else {
        return Ok(None);
    };
    Ok(Some((before, after)))
}

/// Returns the content of a file if it is a text of a size that is compared.
pub(crate) fn text(store: &Root, entry: Option<&Entry>) -> Result<Option<String>, UndoError> {
    match entry {
        None => Ok(Some(String::new())),
        Some(Entry::File { content, size, .. }) => text_of(store, *content, *size),
        Some(Entry::Directory { .. } | Entry::Link { .. } | Entry::Uncovered { .. }) => Ok(None),
    }
}

pub(crate) fn text_of(store: &Root, id: ContentId, size: u64) -> Result<Option<String>, UndoError> {
    let bytes = objects::read(store, id, size, MAX_COMPARED)?;
    Ok(bytes.and_then(as_text))
}

/// Takes bytes for a text if they are one.
pub(crate) fn as_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
}

fn count(before: &str, after: &str) -> LineCount {
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_lines(before, after);
    let mut count = LineCount::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {}
            ChangeTag::Insert => count.added += 1,
            ChangeTag::Delete => count.removed += 1,
        }
    }
    count
}

fn difference(before: &str, after: &str) -> Difference {
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_lines(before, after);
    let mut out = Difference {
        count: Some(count(before, after)),
        ..Difference::default()
    };
    for group in diff.grouped_ops(AROUND) {
        if let Some(first) = group.first() {
            out.lines.push(DifferenceLine::Place {
                before: first.old_range().start + 1,
                after: first.new_range().start + 1,
            });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if out.lines.len() >= MAX_LINES {
                out.is_shortened = true;
                return out;
            }
            let text = change.value();
            let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
            out.lines.push(match change.tag() {
                ChangeTag::Equal => DifferenceLine::Same { text },
                ChangeTag::Insert => DifferenceLine::Added { text },
                ChangeTag::Delete => DifferenceLine::Removed { text },
            });
        }
    }
    out
}
