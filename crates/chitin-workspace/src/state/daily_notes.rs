//! The workspace's own daily notes: one Markdown file per day, which only grows here.
//!
//! Lines are appended in one write, so that two processes never lose each other's. Nothing here changes or removes a line, and
//! no other file is touched. Links are refused: a note must not end up outside the workspace.

use super::compat::NOTES_DIRECTORY;
use super::reader::StateError;
use chitin_guard::{ReadError, Root, WriteOutcome};
use chitin_protocol::text::is_blank_js;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

/// The most bytes that are appended at once.
const MAX_APPEND: usize = 64 * 1024;

/// Returns where the note of a day is, relative to the workspace.
pub fn daily_note(day: Date) -> PathBuf {
    Path::new(NOTES_DIRECTORY).join(format!("{day}.md"))
}

/// The daily notes of one workspace.
#[derive(Debug)]
pub struct DailyNotes {
    root: Root,
}

/// What an append did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// How many lines are new; empty ones do not count.
    pub lines: usize,
    /// Whether the day had no note before.
    pub is_new: bool,
}

impl DailyNotes {
    /// Opens a workspace, which must be there.
    pub fn open(workspace: &Path) -> Result<Self, StateError> {
        Ok(Self {
            root: Root::open(workspace)?,
        })
    }

    /// Tells whether notes can be written here at all.
    pub fn may_append(&self) -> bool {
        let notes = Path::new(NOTES_DIRECTORY);
        match self.root.kind(notes) {
            Some(_) => self.root.may_write(notes),
            None => self.root.may_write(Path::new("")),
        }
    }

    /// Appends whole lines to the note of a day. A new note begins with the day as its heading. Once this returns, the lines
    /// survive a crash.
    pub fn append(&self, day: Date, text: &str) -> Result<Appended, StateError> {
        let refused = |reason| Err(StateError::Entry { reason });
        if is_blank_js(text) {
            return refused("it says nothing");
        }
        if text.len() > MAX_APPEND {
            return refused("it is longer than 64 KiB");
        }
        if text.contains('\0') {
            return refused("it holds a NUL, which no text has");
        }
        let file = daily_note(day);
        self.root.make_directories(Path::new(NOTES_DIRECTORY))?;
        let heading = format!("# {day}\n\n");
        let made = self.root.write_new(&file, heading.as_bytes())?;
        let text = text.trim_end_matches(['\r', '\n']);
        // A line that a crash cut off, or that was typed without a line end, must not swallow the new one.
        let gap = if self.is_ended(&file)? { "" } else { "\n" };
        self.root
            .append(&file, format!("{gap}{text}\n").as_bytes())?;
        Ok(Appended {
            lines: text.lines().filter(|line| !is_blank_js(line)).count(),
            is_new: made == WriteOutcome::Created,
        })
    }

    /// Tells whether a file is empty or its last line is ended.
    fn is_ended(&self, file: &Path) -> Result<bool, StateError> {
        match self.root.read_tail(file, 1) {
            Ok((tail, _)) => Ok(tail.is_empty() || tail == b"\n"),
            Err(ReadError::Missing { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}
