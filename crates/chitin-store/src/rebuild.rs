//! Makes the index again from the transcripts, when it is missing or damaged.

use crate::compat;
use crate::disk::{Directory, Open, damaged};
use crate::index::{Index, IndexLock, KEYS};
use crate::names;
use crate::read;
use crate::store::{SessionEntry, SessionTotals, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// No honest list of keys is longer.
const MAX_KEYS_BYTES: u64 = 256 << 20;

/// What the list of keys is written to before it takes the place of the old one.
const NEXT_KEYS: &str = ".sessions.keys.next";

/// One line of the list of keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeyLine {
    key: String,
    /// The transcript's name without its ending.
    transcript: String,
}

impl KeyLine {
    pub(crate) fn new(key: &str, transcript: &str) -> Self {
        Self {
            key: key.to_owned(),
            transcript: transcript.to_owned(),
        }
    }
}

/// Notes which keys new sessions have. Comes before the index names them.
pub(crate) fn note_keys(
    directory: &Directory,
    lines: &[KeyLine],
    _lock: &IndexLock,
) -> Result<(), StoreError> {
    let path = directory.path_of(KEYS);
    let file = directory
        .file(KEYS, Open::AppendOrCreate)?
        .ok_or_else(|| damaged(path, "it cannot be made"))?;
    let length = file.len()?;
    // The line end first: whatever a crash left before it is then a line of its own.
    let mut text = String::new();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_at(&mut last, length - 1)?;
    }
    if last != *b"\n" {
        text.push('\n');
    }
    for line in lines {
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
        text.push('\n');
    }
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_data());
    if written.is_err() {
        let _ = file.truncate(length);
    }
    written
}

/// Returns the names of all transcripts that a key has or had, without their ending.
pub(crate) fn transcripts_of(
    directory: &Directory,
    key: &str,
) -> Result<impl Iterator<Item = String> + use<>, StoreError> {
    let lines = keys(directory)?;
    let mut last: HashMap<String, String> = HashMap::new();
    for line in lines {
        last.insert(line.transcript, line.key);
    }
    let key = key.to_owned();
    let of_key = last.into_iter().filter(move |(_, owner)| *owner == key);
    Ok(of_key.map(|(transcript, _)| transcript))
}

/// Takes a key out of the list of keys. Called with the right to change the index.
pub(crate) fn forget_key(directory: &Directory, key: &str) -> Result<(), StoreError> {
    let lines = keys(directory)?;
    if !lines.iter().any(|line| line.key == key) {
        return Ok(());
    }
    let mut text = String::new();
    for line in lines.iter().filter(|line| line.key != key) {
        text.push_str(&serde_json::to_string(line).unwrap_or_default());
        text.push('\n');
    }
    directory.remove(NEXT_KEYS)?;
    let next = directory.file(NEXT_KEYS, Open::CreateNew)?;
    let next = next.ok_or_else(|| damaged(directory.path_of(NEXT_KEYS), "it cannot be made"))?;
    let written = next
        .write_all(text.as_bytes())
        .and_then(|()| next.sync_data())
        .and_then(|()| directory.rename(NEXT_KEYS, KEYS))
        .and_then(|()| directory.sync());
    if written.is_err() {
        let _ = directory.remove(NEXT_KEYS);
    }
    written
}

/// Gives every key the transcript that it had last, and every transcript without a key one made of its id.
pub(crate) fn from_transcripts(directory: &Directory) -> Result<Index, StoreError> {
    let keys = keys(directory)?;
    let mut last: HashMap<&str, &str> = HashMap::new();
    let mut key_of: HashMap<&str, &str> = HashMap::new();
    let files = directory.list(names::is_transcript)?;
    let there: HashSet<&str> = files.iter().map(|file| stem_of(&file.name)).collect();
    // A key that was noted for a session which then did not begin takes nothing away from the one before.
    for line in keys.iter().filter(|line| there.contains(&*line.transcript)) {
        last.insert(&line.key, &line.transcript);
        key_of.insert(&line.transcript, &line.key);
    }
    let mut index = Index::default();
    for file in &files {
        let Some(open) = directory.file(&file.name, Open::Read)? else {
            continue;
        };
        let Ok((header, _)) = read::header(&open) else {
            continue;
        };
        let stem = stem_of(&file.name);
        let key = match key_of.get(stem) {
            Some(key) if last.get(key) == Some(&stem) => (*key).to_owned(),
            // The key went on with another transcript: this one belongs to the archive.
            Some(_) => continue,
            None => format!(
                "agent:{}:{}{}",
                agent_of(directory),
                compat::EXPLICIT,
                stem.to_lowercase()
            ),
        };
        let entry = SessionEntry {
            session_id: header.id,
            updated_at: file.modified_ms,
            session_file: Some(directory.path_of(&file.name).to_string_lossy().into_owned()),
            // What its turns took stood in the index alone; from here on there are more than can be counted.
            totals: Some(SessionTotals {
                tokens_unknown: true,
                ..SessionTotals::default()
            }),
            ..SessionEntry::default()
        };
        index.insert(&key, &entry);
    }
    Ok(index)
}

/// Returns the name of a transcript without its ending.
fn stem_of(name: &str) -> &str {
    name.strip_suffix(compat::TRANSCRIPT).unwrap_or(name)
}

fn keys(directory: &Directory) -> Result<Vec<KeyLine>, StoreError> {
    let Some(file) = directory.file(KEYS, Open::Read)? else {
        return Ok(Vec::new());
    };
    let bytes = file.read_all(MAX_KEYS_BYTES)?;
    Ok(bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect())
}

/// Returns the agent that a directory of sessions belongs to, by its name.
fn agent_of(directory: &Directory) -> String {
    let path = directory.path_of(compat::INDEX);
    let sessions = path.parent();
    sessions
        .filter(|path| path.ends_with(compat::SESSIONS))
        .and_then(Path::parent)
        .and_then(Path::file_name)
        .map_or_else(
            || "main".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
}
