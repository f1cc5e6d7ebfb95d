//! Patches as models write them: the format between `*** Begin Patch` and `*** End Patch`, or a unified diff.

use super::hunks::{AtEnd, Hunk, HunkLine};
use super::unified;
use crate::compat::patch::{ADD, BEGIN, DELETE, END, END_OF_FILE, MOVE, UPDATE};
use thiserror::Error;

/// What a patch wants done with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchedFile {
    /// A new file.
    Add {
        /// Its path.
        path: String,
        /// All that it holds.
        content: String,
    },
    /// A file goes.
    Delete {
        /// Its path.
        path: String,
        /// What it must hold, where the patch says so.
        hunks: Vec<Hunk>,
    },
    /// A file changes, and perhaps gets another name.
    Update {
        /// Its path.
        path: String,
        /// Its path afterwards, if that is another one.
        move_to: Option<String>,
        /// What changes in it.
        hunks: Vec<Hunk>,
    },
}

/// Why a text is no patch. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatchError {
    /// Neither of the two formats.
    #[error(
        "this is neither a patch between `*** Begin Patch` and `*** End Patch` nor a unified diff"
    )]
    Unknown,
    /// The patch does not end.
    #[error("the patch has no `*** End Patch`")]
    NoEnd,
    /// Nothing is to be changed.
    #[error("the patch changes no file")]
    Empty,
    /// A line that means nothing where it stands.
    #[error("could not parse line {line} of the patch: `{text}`; {expected}")]
    Line {
        /// Which line.
        line: usize,
        /// What it says.
        text: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// A patch of something that is no text.
    #[error("line {line} of the patch: binary patches are not supported")]
    Binary {
        /// Which line.
        line: usize,
    },
}

impl PatchError {
    pub(super) fn line(number: usize, text: &str, expected: &'static str) -> Self {
        Self::Line {
            line: number,
            text: text.chars().take(120).collect(),
            expected,
        }
    }
}

/// Reads a patch in either format.
pub fn parse_patch(text: &str) -> Result<Vec<PatchedFile>, PatchError> {
    let text = text.replace("\r\n", "\n");
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    let begin = lines.iter().position(|(_, line)| line.trim() == BEGIN);
    let changes = match begin {
        Some(begin) => {
            let body = &lines[begin + 1..];
            let end = body.iter().rposition(|(_, line)| line.trim() == END);
            parse(&body[..end.ok_or(PatchError::NoEnd)?])?
        }
        None if unified::looks_like_one(&lines) => unified::parse(&lines)?,
        None => return Err(PatchError::Unknown),
    };
    if changes.is_empty() {
        return Err(PatchError::Empty);
    }
    Ok(changes)
}

/// The lines, one after the other.
pub(super) struct Lines<'a> {
    lines: &'a [(usize, &'a str)],
    at: usize,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(lines: &'a [(usize, &'a str)]) -> Self {
        Self { lines, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<(usize, &'a str)> {
        self.lines.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<(usize, &'a str)> {
        let line = self.peek();
        self.at += 1;
        line
    }

    /// Takes the next line if it begins with a text, and returns what follows that.
    pub(super) fn take(&mut self, start: &str) -> Option<&'a str> {
        let rest = self.peek()?.1.strip_prefix(start)?;
        self.at += 1;
        Some(rest)
    }
}

fn parse(lines: &[(usize, &str)]) -> Result<Vec<PatchedFile>, PatchError> {
    let mut lines = Lines::new(lines);
    let mut changes = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        let header = |start: &str| line.strip_prefix(start).map(|path| path.trim().to_owned());
        if let Some(path) = header(ADD) {
            changes.push(PatchedFile::Add {
                path,
                content: added(&mut lines)?,
            });
        } else if let Some(path) = header(DELETE) {
            changes.push(PatchedFile::Delete {
                path,
                hunks: Vec::new(),
            });
        } else if let Some(path) = header(UPDATE) {
            let move_to = lines.take(MOVE).map(|path| path.trim().to_owned());
            changes.push(PatchedFile::Update {
                path,
                move_to,
                hunks: hunks(&mut lines)?,
            });
        } else {
            return Err(PatchError::line(
                number,
                line,
                "expected `*** Add File: `, `*** Update File: ` or `*** Delete File: ` with a path",
            ));
        }
    }
    Ok(changes)
}

fn is_header(line: &str) -> bool {
    [ADD, DELETE, UPDATE]
        .iter()
        .any(|start| line.starts_with(start))
}

fn added(lines: &mut Lines<'_>) -> Result<String, PatchError> {
    let mut content = String::new();
    while let Some((number, line)) = lines.peek() {
        if is_header(line) {
            break;
        }
        lines.next();
        match line.strip_prefix('+') {
            Some(text) => {
                content.push_str(text);
                content.push('\n');
            }
            None if line.trim().is_empty() || line == END_OF_FILE => {}
            None => {
                return Err(PatchError::line(
                    number,
                    line,
                    "every line of a new file starts with `+`",
                ));
            }
        }
    }
    Ok(content)
}

fn hunks(lines: &mut Lines<'_>) -> Result<Vec<Hunk>, PatchError> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut hunk = Hunk::default();
    // Empty lines at the end of a hunk only set it apart from what follows.
    let mut empty_lines = 0;
    let finish = |hunk: &mut Hunk, empty_lines: &mut usize, hunks: &mut Vec<Hunk>| {
        let length = hunk.lines.len().saturating_sub(std::mem::take(empty_lines));
        hunk.lines.truncate(length);
        if length > 0 {
            hunks.push(std::mem::take(hunk));
        }
    };
    while let Some((number, line)) = lines.peek() {
        if is_header(line) {
            break;
        }
        lines.next();
        if line == END_OF_FILE {
            hunk.at_end = AtEnd::Yes;
            finish(&mut hunk, &mut empty_lines, &mut hunks);
        } else if let Some(anchor) = line.strip_prefix("@@") {
            finish(&mut hunk, &mut empty_lines, &mut hunks);
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            // Some models write the numbers of a unified diff here; a hunk is found by its lines.
            let numbers = anchor.starts_with('-') && anchor.contains("@@");
            if !anchor.trim().is_empty() && !numbers {
                hunk.anchors.push(anchor.to_owned());
            }
        } else {
            empty_lines = if line.is_empty() { empty_lines + 1 } else { 0 };
            hunk.lines.push(hunk_line(number, line)?);
        }
    }
    finish(&mut hunk, &mut empty_lines, &mut hunks);
    Ok(hunks)
}

pub(super) fn hunk_line(number: usize, line: &str) -> Result<HunkLine, PatchError> {
    let mut characters = line.chars();
    let first = characters.next();
    let rest = characters.as_str().to_owned();
    match first {
        Some('+') => Ok(HunkLine::Added(rest)),
        Some('-') => Ok(HunkLine::Removed(rest)),
        Some(' ') => Ok(HunkLine::Kept(rest)),
        // The blank that marks an empty line of context gets lost easily.
        None => Ok(HunkLine::Kept(String::new())),
        Some(_) => Err(PatchError::line(
            number,
            line,
            "a line of a change starts with a space, `+` or `-`",
        )),
    }
}
