//! A copy of a job log that another process has, taken together with the transcripts.
//!
//! Copying takes time, and jobs go on meanwhile. The copy has the log as it was when the copying began, and all that was opened until it ended:
//! of every message that a transcript may have by then, either the whole turn is in the transcript or the job is open in the copy. A job that is
//! open and was over is found to be over when its turn is run again under its name.

use super::contents::Contents;
use super::file::{MAX_BYTES, NAME};
use super::items::Known;
use super::line::{self, Line};
use super::{JobChange, OpenItem};
use crate::disk::{Directory, File, Open, damaged, peek};
use crate::store::StoreError;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A copy of a job log in the making.
#[derive(Debug)]
pub struct JobLogBackup {
    directory: PathBuf,
    file: File,
    /// How long the log was when the copying began.
    length: u64,
}

impl JobLogBackup {
    /// Returns the name of the log in its directory.
    pub const FILE_NAME: &'static str = NAME;

    /// Begins a copy; nothing if there is no log. Called before anything else is copied.
    pub fn begin(directory: &Path) -> Result<Option<Self>, StoreError> {
        let Some(opened) = Directory::open(directory)? else {
            return Ok(None);
        };
        let Some(file) = opened.file(NAME, Open::Read)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            directory: directory.to_path_buf(),
            length: file.len()?,
            file,
        }))
    }

    /// Returns the copy. Called after everything else is copied. The log is held in memory, as it is by the process that has it.
    pub fn finish(self) -> Result<Vec<u8>, StoreError> {
        if self.length > MAX_BYTES {
            return Err(damaged(self.directory.join(NAME), "it is too large"));
        }
        let mut bytes = vec![0; usize::try_from(self.length).unwrap_or_default()];
        let read = self.file.read_at(&mut bytes, 0)?;
        bytes.truncate(read);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.map_or(0, |end| end + 1));
        let before = Contents::read(&bytes, Known::default());
        let known: HashSet<&str> = before.open.iter().map(|item| item.id.as_str()).collect();
        let added = self.opened_since(bytes.len() as u64)?;
        let mut number = before.last;
        for item in added.iter().filter(|item| !known.contains(&*item.id)) {
            number += 1;
            let written = if before.is_current {
                line::write(&mut bytes, number, &item.batch())
            } else {
                let written = serde_json::to_writer(&mut bytes, &item.batch());
                bytes.push(b'\n');
                written
            };
            written.map_err(|error| damaged(self.directory.join(NAME), error.to_string()))?;
        }
        Ok(bytes)
    }

    /// Returns what was opened behind a place, whether it is over by now or not.
    fn opened_since(&self, place: u64) -> Result<Vec<OpenItem>, StoreError> {
        let there = peek(&self.directory.join(NAME))?;
        let ours = self.file.fingerprint()?;
        let mut items = Vec::new();
        if !there.is_some_and(|there| there.is_same_file(&ours)) {
            // It was written anew: the new one has all that is open.
            let directory = Directory::open(&self.directory)?;
            let file = directory.map(|directory| directory.file(NAME, Open::Read));
            if let Some(file) = file.transpose()?.flatten() {
                let bytes = file.read_all(MAX_BYTES)?;
                items.extend(
                    Contents::read(&bytes, Known::default())
                        .open
                        .iter()
                        .cloned(),
                );
            }
        }
        let length = self.file.len()?.saturating_sub(place).min(MAX_BYTES);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        let read = self.file.read_at(&mut bytes, place)?;
        bytes.truncate(read);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        bytes.truncate(whole.unwrap_or(0));
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Line::Batch(_, changes) | Line::Earlier(changes) = line::read(line) {
                for change in changes {
                    take(&mut items, change);
                }
            }
        }
        Ok(items)
    }
}

fn take(items: &mut Vec<OpenItem>, change: JobChange) {
    match change {
        JobChange::Open { id, body } => {
            items.retain(|item| item.id != id);
            let marks = Vec::new();
            items.push(OpenItem { id, body, marks });
        }
        JobChange::Mark { id, mark } => {
            if let Some(item) = items.iter_mut().find(|item| item.id == id) {
                item.marks.push(mark);
            }
        }
        // It is over, and may have been over after its transcript was copied.
        JobChange::Close { .. } | JobChange::End { .. } => {}
    }
}
