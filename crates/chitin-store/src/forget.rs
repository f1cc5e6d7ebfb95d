//! Forgetting a session: every file that was ever its, its place in the index, and the note of its key.

use crate::compat;
use crate::disk::{Directory, Open};
use crate::file_store::FileStore;
use crate::names;
use crate::rebuild;
use crate::store::{LockMode, SessionEntry, StoreError};
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// How long a transcript may still be open that is about to be closed.
const CLOSING: LockMode = LockMode::Wait(2_000);
/// Begins the names of indexes that were damaged and set aside.
const DAMAGED_INDEX: &str = "sessions.json.damaged-";
/// A larger one is not looked into, and goes.
const MOST_BYTES: u64 = 256 << 20;

/// What belongs to a session: its present transcript, and those from before it was reset or deleted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFiles {
    /// The ids that it had, one for each transcript.
    pub ids: Vec<String>,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// The transcripts among them.
    pub transcripts: Vec<PathBuf>,
    /// How many bytes they take.
    pub bytes: u64,
    /// What the index says of it.
    pub entry: Option<SessionEntry>,
}

impl FileStore {
    /// Finds everything that belongs to a session, also to one that is only in the archive. Nothing is changed.
    pub fn files_of_session(&self, key: &str) -> Result<SessionFiles, StoreError> {
        let unknown = || StoreError::Unknown {
            key: key.to_owned(),
        };
        let directory = self.existing()?.ok_or_else(unknown)?;
        let (entry, stems) = self.stems(&directory, key)?;
        if entry.is_none() && stems.is_empty() {
            return Err(unknown());
        }
        let mut found = SessionFiles {
            entry,
            ..SessionFiles::default()
        };
        let mut ids: BTreeSet<&str> = stems.iter().map(String::as_str).collect();
        if let Some(entry) = &found.entry {
            ids.insert(&entry.session_id);
        }
        found.ids = ids
            .into_iter()
            .filter(|id| !id.is_empty())
            .map(str::to_owned)
            .collect();
        for file in directory.list(|name| is_of(name, &stems))? {
            let path = directory.path_of(&file.name);
            if is_transcript(&file.name) {
                found.transcripts.push(path.clone());
            }
            found.files.push(path);
            found.bytes += file.bytes;
        }
        if found.entry.is_none() && found.files.is_empty() {
            return Err(unknown());
        }
        Ok(found)
    }

    /// Tells whether a process has a session open.
    pub fn is_in_use(&self, key: &str) -> Result<bool, StoreError> {
        let Some(directory) = self.existing()? else {
            return Ok(false);
        };
        let Some(index) = self.ledger.read()? else {
            return Ok(false);
        };
        let Some(entry) = index.get(key)? else {
            return Ok(false);
        };
        drop(index);
        let Some(name) = entry.transcript_name() else {
            return Ok(false);
        };
        match directory.file(&name, Open::Append) {
            Ok(Some(file)) => Ok(!file.lock(CLOSING)?),
            Ok(None) | Err(StoreError::Damaged { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes everything that belongs to a session, unless a process has it open, and returns what that was. What a crash leaves of it is
    /// removed by doing it again.
    pub fn forget(&self, key: &str) -> Result<SessionFiles, StoreError> {
        let found = self.files_of_session(key)?;
        let Some(directory) = self.existing()? else {
            return Ok(found);
        };
        let mut held = Vec::new();
        for path in &found.transcripts {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let file = match directory.file(&name, Open::Append) {
                // What is no regular file is nobody's transcript, and goes.
                Ok(None) | Err(StoreError::Damaged { .. }) => continue,
                Ok(Some(file)) => file,
                Err(error) => return Err(error),
            };
            if !file.lock(CLOSING)? {
                return Err(StoreError::Busy {
                    key: key.to_owned(),
                });
            }
            held.push(file);
        }
        // The index first: what it does not name any more is merely in the archive if the process ends here.
        self.ledger.change(
            |turn| {
                turn.remove(key);
                Ok(())
            },
            |()| Ok(()),
        )?;
        for path in &found.files {
            directory.remove(&path.file_name().unwrap_or_default().to_string_lossy())?;
        }
        for copy in directory.list(|name| name.starts_with(DAMAGED_INDEX))? {
            if names_session(&directory, &copy.name, key, &found.ids)? {
                directory.remove(&copy.name)?;
            }
        }
        directory.sync()?;
        // The note of the key last: by it the files are found again.
        self.ledger.change(
            |turn| rebuild::forget_key(turn.directory(), key),
            |()| Ok(()),
        )?;
        // Lines beside a long index tell of the session, too.
        self.ledger.fold()?;
        Ok(found)
    }

    /// Returns what the index says of a session, and the names of all transcripts that it has or had, without their ending.
    fn stems(
        &self,
        directory: &Directory,
        key: &str,
    ) -> Result<(Option<SessionEntry>, HashSet<String>), StoreError> {
        let mut stems: HashSet<String> = rebuild::transcripts_of(directory, key)?.collect();
        let Some(index) = self.ledger.read()? else {
            return Ok((None, stems));
        };
        // A transcript that another key goes on with is that one's.
        index.each(|other, entry| {
            if other != key
                && let Some(name) = entry.transcript_name()
            {
                stems.remove(stem(&name));
            }
            ControlFlow::Continue(())
        })?;
        let entry = index.get(key)?.map(|entry| (*entry).clone());
        let own = entry.as_ref().and_then(SessionEntry::transcript_name);
        stems.extend(own.map(|name| stem(&name).to_owned()));
        Ok((entry, stems))
    }
}

/// Tells whether a copy of the index names a session.
fn names_session(
    directory: &Directory,
    copy: &str,
    key: &str,
    ids: &[String],
) -> Result<bool, StoreError> {
    let Some(file) = directory.file(copy, Open::Read)? else {
        return Ok(false);
    };
    if file.len()? > MOST_BYTES {
        return Ok(true);
    }
    let bytes = file.read_all(MOST_BYTES)?;
    let words = ids.iter().map(String::as_str).chain([key]);
    let mut words = words.map(|word| memchr::memmem::find(&bytes, word.as_bytes()));
    Ok(words.any(|found| found.is_some()))
}

fn stem(name: &str) -> &str {
    name.strip_suffix(compat::TRANSCRIPT).unwrap_or(name)
}

/// Tells whether a file belongs to one of these transcripts.
fn is_of(name: &str, stems: &HashSet<String>) -> bool {
    let ends = [compat::TRANSCRIPT, ".trajectory"];
    ends.iter().any(|end| {
        name.match_indices(end).any(|(at, _)| {
            let rest = &name[at + end.len()..];
            let is_whole = *end != compat::TRANSCRIPT || rest.is_empty() || rest.starts_with('.');
            is_whole && stems.contains(&name[..at])
        })
    })
}

/// Tells whether the file of a session is a transcript: the present one, or one that was archived.
fn is_transcript(name: &str) -> bool {
    let marked = |marker: &str| {
        name.split_once(marker)
            .is_some_and(|(transcript, _)| names::is_transcript(transcript))
    };
    names::is_transcript(name) || marked(compat::RESET) || marked(compat::DELETED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_belongs_to_the_session_whose_id_stands_before_its_ending() {
        let stems = HashSet::from(["a".to_owned(), "t-topic-7%2F8".to_owned()]);
        for own in [
            "a.jsonl",
            "a.jsonl.reset.2026-04-01T12-00-00.000Z",
            "a.jsonl.deleted.x",
            "a.jsonl.torn-1",
            "a.trajectory.jsonl",
            "a.trajectory-path.json",
            "a.jsonl.reset.x.torn-1",
            "t-topic-7%2F8.jsonl",
        ] {
            assert!(is_of(own, &stems), "{own}");
        }
        for other in [
            "ab.jsonl",
            "a.b.jsonl",
            "b.jsonl",
            "a.jsonlx",
            "a",
            "sessions.json",
            ".trajectory.jsonl",
        ] {
            assert!(!is_of(other, &stems), "{other}");
        }
    }
}
