//! Replacing pieces of a text: each must be found, and found once; all are replaced, or none.
//!
//! Line ends do not have to match: a model sees and writes `\n`, the file keeps its own. Everything that is not replaced stays
//! as it was, byte for byte.

use super::nearest_lines::{Nearest, nearest_lines};
use memchr::memmem;
use std::borrow::Cow;
use thiserror::Error;

/// So many places are listed when a text is found more than once.
const MOST_PLACES: usize = 10;

/// One piece to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// What is there.
    pub old: String,
    /// What is to be there.
    pub new: String,
    /// Which places are meant.
    pub places: Occurrences,
}

/// Which places a replacement means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Occurrences {
    /// The only one there is.
    #[default]
    Only,
    /// All that there are.
    All,
}

/// A text after its replacements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The text.
    pub bytes: Vec<u8>,
    /// The lines of the old text in which places began, in order.
    pub lines: Vec<usize>,
}

/// Why nothing was replaced. Edits are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplaceProblem {
    /// An empty text is everywhere.
    #[error("edit {edit}: the text to replace is empty; to write a whole file, use `write`")]
    Empty {
        /// Which edit.
        edit: usize,
    },
    /// Old and new are the same.
    #[error("edit {edit}: the new text is the same as the old one")]
    Same {
        /// Which edit.
        edit: usize,
    },
    /// The text is not there.
    #[error("edit {edit}: the text to replace is not in the file; nothing was changed{}", told(nearest.as_ref()))]
    NotFound {
        /// Which edit.
        edit: usize,
        /// What looks most like it.
        nearest: Option<Nearest>,
    },
    /// The text is there more than once.
    #[error(
        "edit {edit}: the text to replace is in the file more than once, at lines {}; nothing was changed. Include more of the surrounding text, or set `replaceAll`",
        listed(lines)
    )]
    Several {
        /// Which edit.
        edit: usize,
        /// The first lines where it begins.
        lines: Vec<usize>,
    },
    /// Two edits want the same text.
    #[error(
        "edits {first} and {second} overlap at line {line}; nothing was changed. Merge them into one edit"
    )]
    Overlap {
        /// One edit.
        first: usize,
        /// The other.
        second: usize,
        /// Where.
        line: usize,
    },
}

fn told(nearest: Option<&Nearest>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(". {nearest}"))
}

fn listed(lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
    lines.join(", ")
}

/// Replaces pieces of a text. Every edit is looked for in the text as it was before all of them.
pub fn replace(original: &[u8], edits: &[Replacement]) -> Result<Replaced, ReplaceProblem> {
    let view = View::new(original);
    let mut ranges: Vec<(usize, usize, usize)> = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let number = index + 1;
        let old = one_line_end(&edit.old);
        if old.is_empty() {
            return Err(ReplaceProblem::Empty { edit: number });
        }
        if old == one_line_end(&edit.new) {
            return Err(ReplaceProblem::Same { edit: number });
        }
        let found = match edit.places {
            Occurrences::All => view.all(&old),
            Occurrences::Only => view.first_few(&old),
        };
        match (edit.places, found.as_slice()) {
            (_, []) => {
                return Err(ReplaceProblem::NotFound {
                    edit: number,
                    nearest: nearest_lines(&view.bytes, &old),
                });
            }
            (Occurrences::Only, [_, _, ..]) => {
                return Err(ReplaceProblem::Several {
                    edit: number,
                    lines: found.iter().map(|at| view.line(*at)).collect(),
                });
            }
            (Occurrences::Only | Occurrences::All, _) => {}
        }
        ranges.extend(found.into_iter().map(|at| (at, at + old.len(), index)));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if let [(_, end, first), (start, _, second)] = pair
            && end > start
        {
            return Err(ReplaceProblem::Overlap {
                first: first.min(second) + 1,
                second: first.max(second) + 1,
                line: view.line(*start),
            });
        }
    }
    let mut bytes = Vec::with_capacity(original.len());
    let mut lines = Vec::new();
    let mut at = 0;
    for (start, end, index) in ranges {
        let (from, to) = (view.original(start), view.original(end));
        bytes.extend_from_slice(&original[at..from]);
        let new = one_line_end(&edits[index].new);
        bytes.extend_from_slice(view.with_line_ends(&new, &original[from..to]).as_bytes());
        at = to;
        lines.push(view.line(start));
    }
    bytes.extend_from_slice(&original[at..]);
    Ok(Replaced { bytes, lines })
}

fn one_line_end(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A text as if all its line ends were `\n`, and the way back.
struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where in `bytes` the line ends stand whose carriage return is missing there.
    dropped: Vec<usize>,
    /// How most lines end.
    ends: &'static str,
}

impl<'a> View<'a> {
    fn new(original: &'a [u8]) -> Self {
        if memmem::find(original, b"\r\n").is_none() {
            return Self {
                bytes: Cow::Borrowed(original),
                dropped: Vec::new(),
                ends: "\n",
            };
        }
        let mut bytes = Vec::with_capacity(original.len());
        let mut dropped = Vec::new();
        for (at, byte) in original.iter().enumerate() {
            if *byte == b'\r' && original.get(at + 1) == Some(&b'\n') {
                dropped.push(bytes.len());
            } else {
                bytes.push(*byte);
            }
        }
        let all = memchr::memchr_iter(b'\n', &bytes).count();
        let ends = if dropped.len() * 2 >= all {
            "\r\n"
        } else {
            "\n"
        };
        Self {
            bytes: Cow::Owned(bytes),
            dropped,
            ends,
        }
    }

    /// Returns where a place of the view is in the original; that of a line end is where its carriage return is.
    fn original(&self, at: usize) -> usize {
        at + self.dropped.partition_point(|dropped| *dropped < at)
    }

    fn all(&self, text: &str) -> Vec<usize> {
        memmem::find_iter(&self.bytes, text.as_bytes()).collect()
    }

    /// Finds the first places, also such that overlap.
    fn first_few(&self, text: &str) -> Vec<usize> {
        let finder = memmem::Finder::new(text.as_bytes());
        let mut places = Vec::new();
        let mut from = 0;
        while places.len() < MOST_PLACES
            && let Some(at) = self.bytes.get(from..).and_then(|rest| finder.find(rest))
        {
            places.push(from + at);
            from += at + 1;
        }
        places
    }

    fn line(&self, at: usize) -> usize {
        memchr::memchr_iter(b'\n', &self.bytes[..at]).count() + 1
    }

    /// Gives a new text the line ends of what it replaces, or of most of the file.
    fn with_line_ends<'t>(&self, new: &'t str, replaced: &[u8]) -> Cow<'t, str> {
        if self.dropped.is_empty() {
            return Cow::Borrowed(new);
        }
        let ends = match replaced.iter().position(|byte| *byte == b'\n') {
            Some(at) if at > 0 && replaced[at - 1] == b'\r' => "\r\n",
            Some(_) => "\n",
            None => self.ends,
        };
        if ends == "\n" {
            Cow::Borrowed(new)
        } else {
            Cow::Owned(new.replace('\n', ends))
        }
    }
}
