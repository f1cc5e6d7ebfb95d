//! Hunks of a patch, put where they belong.
//!
//! A hunk is looked for by the lines that it expects. Where the patch names a line number, the nearest place counts; else the
//! first one behind the hunk before it. Blanks at the ends of lines, then at both sides, may differ; the file's own lines stay.

use thiserror::Error;

/// One change within a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that stand somewhere above the change, outermost first.
    pub anchors: Vec<String>,
    /// The line of the old file at which the hunk begins, counted from 1, if the patch says so.
    pub start: Option<usize>,
    /// The lines.
    pub lines: Vec<HunkLine>,
    /// Whether the change stands at the end of the file.
    pub at_end: AtEnd,
    /// How the last line of the new file ends, where the patch says so.
    pub last_line: LastLine,
}

/// Whether a change stands at the end of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// Anywhere.
    #[default]
    NotSaid,
    /// At the end.
    Yes,
}

/// How the last line of the new file ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LastLine {
    /// As that of the old file.
    #[default]
    NotSaid,
    /// With a line end.
    Ended,
    /// Without one.
    Open,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkLine {
    /// There before and after.
    Kept(String),
    /// There before.
    Removed(String),
    /// There after.
    Added(String),
}

/// Why a hunk cannot be applied. Hunks are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HunkProblem {
    /// The line above the change is not there.
    #[error("hunk {hunk}: there is no line `{anchor}` after the previous hunk")]
    NoAnchor {
        /// Which hunk.
        hunk: usize,
        /// The line.
        anchor: String,
    },
    /// The lines that the hunk expects are not there.
    #[error("hunk {hunk}: its lines are not in the file{}", near(line.as_ref()))]
    NotFound {
        /// Which hunk.
        hunk: usize,
        /// The first line of the hunk that the file does not have where the others stand.
        line: Option<String>,
    },
    /// There is nothing in it.
    #[error("hunk {hunk}: it changes nothing")]
    Nothing {
        /// Which hunk.
        hunk: usize,
    },
}

fn near(line: Option<&String>) -> String {
    line.map_or_else(String::new, |line| {
        format!("; the first that differs is `{line}`")
    })
}

/// A line of a file without its end, and the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line<'a> {
    text: &'a [u8],
    end: &'a [u8],
}

/// Applies hunks to a file. Either all fit, or nothing is returned.
pub fn apply_hunks(original: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, HunkProblem> {
    let mark: &[u8] = b"\xef\xbb\xbf";
    let (mark, body) = match original.strip_prefix(mark) {
        Some(body) => (mark, body),
        None => (&mark[..0], original),
    };
    let lines: Vec<Line<'_>> = body
        .split_inclusive(|byte| *byte == b'\n')
        .map(Line::new)
        .collect();
    let line_end = usual_end(&lines);
    let mut new: Vec<Line<'_>> = Vec::with_capacity(lines.len());
    let mut at = 0;
    let mut last_line = LastLine::NotSaid;
    for (index, hunk) in hunks.iter().enumerate() {
        let number = index + 1;
        let changes = |line: &HunkLine| !matches!(line, HunkLine::Kept(_));
        if !hunk.lines.iter().any(changes) && hunk.last_line == LastLine::NotSaid {
            return Err(HunkProblem::Nothing { hunk: number });
        }
        let from = below_anchors(&lines, at, hunk, number)?;
        let start = find(&lines, from, hunk).ok_or_else(|| HunkProblem::NotFound {
            hunk: number,
            line: first_difference(&lines, from, hunk),
        })?;
        new.extend(&lines[at..start]);
        at = start;
        for line in &hunk.lines {
            match line {
                HunkLine::Kept(_) => {
                    new.extend(lines.get(at));
                    at += 1;
                }
                HunkLine::Removed(_) => at += 1,
                HunkLine::Added(text) => new.push(Line {
                    text: text.as_bytes(),
                    end: line_end,
                }),
            }
        }
        last_line = hunk.last_line;
    }
    new.extend(&lines[at.min(lines.len())..]);
    let last_line = match last_line {
        LastLine::NotSaid if lines.last().is_some_and(|line| line.end.is_empty()) => LastLine::Open,
        LastLine::NotSaid => LastLine::Ended,
        said => said,
    };
    Ok(joined(mark, &new, line_end, last_line))
}

impl<'a> Line<'a> {
    fn new(line: &'a [u8]) -> Self {
        let ends: [&[u8]; 2] = [b"\r\n", b"\n"];
        let length = ends
            .into_iter()
            .find(|end| line.ends_with(end))
            .map_or(0, <[u8]>::len);
        let (text, end) = line.split_at(line.len() - length);
        Self { text, end }
    }
}

fn usual_end(lines: &[Line<'_>]) -> &'static [u8] {
    let with_return = lines.iter().filter(|line| line.end == b"\r\n").count();
    let all = lines.iter().filter(|line| !line.end.is_empty()).count();
    if with_return > 0 && with_return * 2 >= all {
        b"\r\n"
    } else {
        b"\n"
    }
}

/// Puts lines together; only the last one may be without an end.
fn joined(mark: &[u8], lines: &[Line<'_>], line_end: &[u8], last: LastLine) -> Vec<u8> {
    let mut bytes = mark.to_vec();
    for (index, line) in lines.iter().enumerate() {
        bytes.extend_from_slice(line.text);
        let is_last = index + 1 == lines.len();
        if is_last && last == LastLine::Open {
            break;
        }
        bytes.extend_from_slice(if line.end.is_empty() {
            line_end
        } else {
            line.end
        });
    }
    bytes
}

type Comparison = fn(&[u8], &[u8]) -> bool;

/// How exactly lines are compared, strictest first.
const COMPARISONS: [Comparison; 3] = [
    |line, wanted| line == wanted,
    |line, wanted| line.trim_ascii_end() == wanted.trim_ascii_end(),
    |line, wanted| line.trim_ascii() == wanted.trim_ascii(),
];

fn below_anchors(
    lines: &[Line<'_>],
    mut from: usize,
    hunk: &Hunk,
    number: usize,
) -> Result<usize, HunkProblem> {
    for anchor in &hunk.anchors {
        let found = COMPARISONS.iter().find_map(|same| {
            lines
                .get(from..)?
                .iter()
                .position(|line| same(line.text, anchor.as_bytes()))
        });
        let Some(found) = found else {
            return Err(HunkProblem::NoAnchor {
                hunk: number,
                anchor: anchor.clone(),
            });
        };
        from += found + 1;
    }
    Ok(from)
}

/// Returns the lines that a hunk expects.
fn expected(hunk: &Hunk) -> Vec<&[u8]> {
    hunk.lines
        .iter()
        .filter_map(|line| match line {
            HunkLine::Kept(text) | HunkLine::Removed(text) => Some(text.as_bytes()),
            HunkLine::Added(_) => None,
        })
        .collect()
}

fn find(lines: &[Line<'_>], from: usize, hunk: &Hunk) -> Option<usize> {
    let wanted = expected(hunk);
    if wanted.is_empty() {
        // Nothing to go by but the number of the line, the anchor or the end.
        let behind = match (hunk.start, hunk.anchors.is_empty()) {
            (Some(start), _) => start.min(lines.len()).max(from),
            (None, false) => from,
            (None, true) => lines.len(),
        };
        return Some(behind);
    }
    let last = lines.len().checked_sub(wanted.len())?;
    if last < from {
        return None;
    }
    COMPARISONS.iter().find_map(|same| {
        let fits = |start: &usize| {
            let here = lines[*start..].iter().zip(&wanted);
            here.into_iter().all(|(line, want)| same(line.text, want))
        };
        match (hunk.at_end, hunk.start) {
            (AtEnd::Yes, _) => Some(last)
                .filter(fits)
                .or_else(|| (from..=last).rev().find(fits)),
            (AtEnd::NotSaid, Some(start)) => {
                let meant = start.saturating_sub(1);
                (from..=last)
                    .filter(fits)
                    .min_by_key(|at| at.abs_diff(meant))
            }
            (AtEnd::NotSaid, None) => (from..=last).find(fits),
        }
    })
}

/// Returns the first line of the hunk that the file lacks at the place where most of its beginning stands.
fn first_difference(lines: &[Line<'_>], from: usize, hunk: &Hunk) -> Option<String> {
    let wanted = expected(hunk);
    let same = COMPARISONS[2];
    let length = |start: usize| {
        let here = lines[start..].iter().zip(&wanted);
        here.take_while(|(line, want)| same(line.text, want))
            .count()
    };
    let longest = (from..lines.len()).map(length).max().unwrap_or(0);
    let line = wanted.get(longest)?;
    Some(String::from_utf8_lossy(line).chars().take(120).collect())
}
