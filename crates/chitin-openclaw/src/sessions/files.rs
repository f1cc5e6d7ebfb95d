//! Sessions in files: the index `sessions.json` and the transcripts beside it (H20, H23, H31).

use super::{HomeSession, SessionPlace, StoredIn};
use crate::compat;
use crate::json::{text, whole};
use crate::problem::{Problems, sentence};
use crate::transcript::{TranscriptSummary, each_line};
use crate::walk::{self, reading};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The largest index that is read: it repeats prompts in every entry.
const MAX_INDEX_BYTES: u64 = 4 << 30;
/// How many sessions an agent may have.
pub(super) const MAX_SESSIONS: usize = 1_000_000;
/// The largest transcript that is read.
pub(super) const MAX_TRANSCRIPT_BYTES: u64 = 16 << 30;

/// What the index says of a session.
#[derive(Debug)]
pub(super) struct IndexEntry {
    pub(super) key: String,
    session_id: String,
    /// The name of the transcript's file, without the directory: homes get copied.
    pub(super) file: String,
    updated_at: Option<i64>,
    label: Option<String>,
    spawned_by: Option<String>,
}

impl IndexEntry {
    fn of(key: &str, entry: &Value) -> Option<Self> {
        let named = text(entry, "sessionFile");
        let named = named.as_deref().and_then(|path| {
            // Written on another system, the path may have other separators.
            path.rsplit(['/', '\\']).next().map(str::to_owned)
        });
        let session_id = text(entry, "sessionId");
        let file = match (named.filter(|name| !name.is_empty()), &session_id) {
            (Some(name), _) => name,
            (None, Some(id)) => format!("{id}.jsonl"),
            (None, None) => return None,
        };
        Some(Self {
            key: key.to_owned(),
            session_id: session_id.unwrap_or_else(|| file.trim_end_matches(".jsonl").to_owned()),
            file: plain_name(&file)?,
            updated_at: whole(entry, "updatedAt"),
            label: text(entry, "label"),
            spawned_by: text(entry, "spawnedBy"),
        })
    }
}

/// Returns a name that leads nowhere else.
fn plain_name(name: &str) -> Option<String> {
    let plain = !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    plain.then(|| name.to_owned())
}

/// Reads the index; what cannot be read of it is a problem, and the entries before it count.
pub(super) fn index(place: &SessionPlace<'_>, problems: &mut Problems) -> Vec<IndexEntry> {
    let path = place.directory().join(compat::SESSION_INDEX);
    let reader = match place.state.open_reader(&path, &reading(MAX_INDEX_BYTES)) {
        Ok(reader) => reader,
        Err(error) if error.is_missing() => return Vec::new(),
        Err(error) => {
            problems.say(&path, sentence(&error));
            return Vec::new();
        }
    };
    let mut entries = BTreeMap::new();
    let mut odd = 0_usize;
    let mut parser = serde_json::Deserializer::from_reader(BufReader::new(reader));
    let outcome = parser.deserialize_map(Entries {
        take: &mut |key, entry| match IndexEntry::of(&key, &entry) {
            Some(entry) if entries.len() < MAX_SESSIONS => {
                entries.insert(key, entry);
            }
            Some(_) | None => odd += 1,
        },
    });
    if let Err(error) = outcome.and_then(|()| parser.end()) {
        problems.say(
            &path,
            format!("It ends with what is no JSON ({error}); the sessions before that count."),
        );
    }
    if odd > 0 {
        problems.say(&path, format!("It has {odd} entries without a session."));
    }
    entries.into_values().collect()
}

/// Takes the members of a map one after the other, so that only one is in memory.
struct Entries<'a> {
    take: &'a mut dyn FnMut(String, Value),
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of sessions")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key.is_empty() {
                map.next_value::<IgnoredAny>()?;
            } else {
                (self.take)(key, map.next_value()?);
            }
        }
        Ok(())
    }
}

/// Reads a session that the index names.
pub(super) fn session(
    place: &SessionPlace<'_>,
    entry: &IndexEntry,
    problems: &mut Problems,
) -> HomeSession {
    let summary = if let Some(path) = locate(place, entry) {
        summary(place, &path, problems)
    } else {
        let path = place.directory().join(&entry.file);
        let message = format!("The transcript of `{}` is missing.", entry.key);
        problems.say(path, message);
        TranscriptSummary::default()
    };
    HomeSession {
        agent: place.agent.to_owned(),
        key: entry.key.clone(),
        session_id: entry.session_id.clone(),
        updated_at: entry.updated_at,
        from: StoredIn::File,
        file: Some(entry.file.clone()),
        summary,
        label: entry.label.clone(),
        spawned_by: entry.spawned_by.clone(),
        also_in_files: false,
    }
}

/// Returns where the transcript is. A migration that was killed may have moved it already (H82, H85).
fn locate(place: &SessionPlace<'_>, entry: &IndexEntry) -> Option<PathBuf> {
    let path = place.directory().join(&entry.file);
    if walk::is_there(place.state, &path) {
        return Some(path);
    }
    let archive = place.below(compat::IMPORT_ARCHIVE);
    let moved = format!(".{}.imported-", entry.file);
    walk::files(place.state, &archive)
        .into_iter()
        .rfind(|name| name.contains(&moved))
        .map(|name| archive.join(name))
}

/// Reads a transcript and counts what is in it.
pub(super) fn summary(
    place: &SessionPlace<'_>,
    path: &Path,
    problems: &mut Problems,
) -> TranscriptSummary {
    let mut summary = TranscriptSummary::default();
    let outcome = match place
        .state
        .open_reader(path, &reading(MAX_TRANSCRIPT_BYTES))
    {
        Ok(reader) => {
            each_line(reader, &mut |line| summary.take(line)).map_err(|error| sentence(&error))
        }
        Err(error) => Err(sentence(&error)),
    };
    if let Err(message) = outcome {
        problems.say(path, message);
    }
    let summary = summary.finish(place.texts);
    if summary.unreadable() > 0 {
        let count = summary.unreadable();
        let noun = if count == 1 { "record" } else { "records" };
        problems.say(path, format!("It has {count} unreadable {noun}."));
    }
    summary
}
