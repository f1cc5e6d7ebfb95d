//! The difference that a change made, line by line.

use crate::entry::{Change, ContentId, Entry};
use crate::error::UndoError;
use crate::history::History;
use crate::objects;
use chitin_guard::Root;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::ops::Range;
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
    /// Where a group of changes begins, both counted from one. Where one side has no lines, it is the line before them.
    #[serde(rename_all = "camelCase")]
    Place {
        /// The line in the old content.
        before: usize,
        /// How many lines of the old content follow.
        before_lines: usize,
        /// The line in the new content.
        after: usize,
        /// How many lines of the new content follow.
        after_lines: usize,
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
    /// The line before is the last one of its content and does not end.
    NoNewline,
}

impl History {
    /// Counts the lines that a change added and removed; nothing where that cannot be said.
    pub fn count(&self, change: &Change) -> Result<Option<LineCount>, UndoError> {
        let store = self.reader()?;
        Ok(texts(&store, change)?.map(|(before, after)| count(&before, &after)))
    }

    /// Compares what stood under a name before and after a change. What is too long to be read is shortened.
    pub fn difference(&self, change: &Change) -> Result<Difference, UndoError> {
        self.compared(change, MAX_LINES)
    }

    /// Does the same and leaves no line out.
    pub fn whole_difference(&self, change: &Change) -> Result<Difference, UndoError> {
        self.compared(change, usize::MAX)
    }

    fn compared(&self, change: &Change, most: usize) -> Result<Difference, UndoError> {
        let store = self.reader()?;
        let texts = texts(&store, change)?;
        Ok(texts.map_or_else(Difference::default, |(before, after)| {
            difference(&before, &after, most)
        }))
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

/// The lines of a text, each with its end. A lone carriage return ends none.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn count(before: &str, after: &str) -> LineCount {
    let (before, after) = (lines(before), lines(after));
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_slices(&before, &after);
    count_in(&diff)
}

fn count_in(diff: &TextDiff<'_, '_, str>) -> LineCount {
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

/// Where a part of a content begins, as the head of a hunk says it, and how many lines it has.
fn span(lines: &Range<usize>) -> (usize, usize) {
    let begin = lines.start + usize::from(!lines.is_empty());
    (begin, lines.len())
}

fn difference(before: &str, after: &str, most: usize) -> Difference {
    let (before, after) = (lines(before), lines(after));
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_slices(&before, &after);
    let mut out = Difference {
        count: Some(count_in(&diff)),
        ..Difference::default()
    };
    for group in diff.grouped_ops(AROUND) {
        if let (Some(first), Some(last)) = (group.first(), group.last()) {
            let (before, before_lines) = span(&(first.old_range().start..last.old_range().end));
            let (after, after_lines) = span(&(first.new_range().start..last.new_range().end));
            out.lines.push(DifferenceLine::Place {
                before,
                before_lines,
                after,
                after_lines,
            });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if out.lines.len() >= most {
                out.is_shortened = true;
                return out;
            }
            let line = change.value();
            let ended = line.strip_suffix('\n');
            let text = ended.unwrap_or(line).to_owned();
            out.lines.push(match change.tag() {
                ChangeTag::Equal => DifferenceLine::Same { text },
                ChangeTag::Insert => DifferenceLine::Added { text },
                ChangeTag::Delete => DifferenceLine::Removed { text },
            });
            if ended.is_none() {
                out.lines.push(DifferenceLine::NoNewline);
            }
        }
    }
    out
}
