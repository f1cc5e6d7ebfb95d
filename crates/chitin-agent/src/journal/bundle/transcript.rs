//! A transcript as an export needs it: the active branch, from the root to the leaf.

use super::super::fs;
use super::super::read::TraceError;
use chitin_protocol::transcript::{Header, TranscriptEntry};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Longer transcripts are not exported.
const READ_LIMIT: u64 = 256 * 1024 * 1024;

/// A transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The first line.
    pub header: Header,
    /// The active branch, oldest first.
    pub branch: Vec<TranscriptEntry>,
    /// How many lines are no records.
    pub damaged: usize,
}

impl Transcript {
    /// Reads a transcript; records that are not understood are counted and passed over.
    pub fn read(path: &Path) -> Result<Self, TraceError> {
        let bytes = fs::read(path, READ_LIMIT).map_err(TraceError::io(path))?;
        Self::parse(&bytes).map_err(|reason| TraceError::NoTranscript {
            path: path.to_owned(),
            reason,
        })
    }

    /// Takes a transcript's bytes apart.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut lines = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty());
        let first = lines.next().ok_or("it is empty")?;
        let header: Header = serde_json::from_slice(first).map_err(|error| error.to_string())?;
        let mut damaged = 0;
        let mut entries: Vec<TranscriptEntry> = Vec::new();
        for line in lines {
            match serde_json::from_slice(line) {
                Ok(entry) => entries.push(entry),
                Err(_) => damaged += 1,
            }
        }
        Ok(Self {
            header,
            branch: active(entries),
            damaged,
        })
    }

    /// Returns the last record of the active branch.
    pub fn leaf(&self) -> Option<&str> {
        self.branch.last().map(|entry| entry.id.as_str())
    }
}

/// Follows the parents from the last record; a circle or a parent that is missing ends it.
fn active(entries: Vec<TranscriptEntry>) -> Vec<TranscriptEntry> {
    let mut next = entries.last().map(|entry| entry.id.clone());
    let mut by_id: HashMap<String, TranscriptEntry> = entries
        .into_iter()
        .map(|entry| (entry.id.clone(), entry))
        .collect();
    let mut seen = HashSet::new();
    let mut branch = Vec::new();
    while let Some(id) = next.take() {
        if !seen.insert(id.clone()) {
            break;
        }
        let Some(entry) = by_id.remove(&id) else {
            break;
        };
        next.clone_from(&entry.parent_id);
        branch.push(entry);
    }
    branch.reverse();
    branch
}
