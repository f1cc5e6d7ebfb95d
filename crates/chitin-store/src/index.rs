//! The index: which session has which transcript (R15, R17). Fields and entries that we do not know are kept.

use crate::compat;
use crate::disk::{Directory, File, Open, damaged};
use crate::names;
use crate::store::{LockMode, SessionEntry, StoreError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The file that is locked while the index is changed. It holds nothing, and the kernel drops the lock with the process.
const LOCK: &str = "sessions.lock";
/// What the index is written to before it takes its place.
const NEXT: &str = ".sessions.json.next";
/// Which key got which session: written once for each session, read only when the index is lost.
pub(crate) const KEYS: &str = "sessions.keys";
/// How long a change of the index by another process may take.
const WAIT: LockMode = LockMode::Wait(10_000);
/// No honest index is longer.
const MAX_BYTES: u64 = 256 << 20;

/// What the index says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Index {
    entries: Map<String, Value>,
}

/// Why there is no index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoIndex {
    Missing,
    Damaged,
}

/// The right to change the index.
#[derive(Debug)]
pub(crate) struct IndexLock {
    _file: File,
}

impl IndexLock {
    pub(crate) fn take(directory: &Directory) -> Result<Self, StoreError> {
        let path = directory.path_of(LOCK);
        let file = directory
            .file(LOCK, Open::AppendOrCreate)?
            .ok_or_else(|| damaged(path.clone(), "it cannot be made"))?;
        if file.lock(WAIT)? {
            Ok(Self { _file: file })
        } else {
            Err(damaged(path, "another process does not let it go"))
        }
    }
}

impl Index {
    pub(crate) fn read(directory: &Directory) -> Result<Result<Self, NoIndex>, StoreError> {
        let Some(file) = directory.file(compat::INDEX, Open::Read)? else {
            return Ok(Err(NoIndex::Missing));
        };
        let bytes = file.read_all(MAX_BYTES)?;
        Ok(serde_json::from_slice(&bytes)
            .map(|entries| Self { entries })
            .map_err(|_| NoIndex::Damaged))
    }

    /// Puts the index in the place of the old one: after a crash there is one or the other.
    pub(crate) fn write(&self, directory: &Directory, _lock: &IndexLock) -> Result<(), StoreError> {
        let mut bytes = serde_json::to_vec_pretty(&self.entries).unwrap_or_default();
        bytes.push(b'\n');
        let path = directory.path_of(NEXT);
        // A link or an odd file in its place is none of ours.
        let next = match directory.file(NEXT, Open::Replace) {
            Err(StoreError::Damaged { .. }) => {
                directory.remove(NEXT)?;
                directory.file(NEXT, Open::Replace)
            }
            next => next,
        };
        let next = next?.ok_or_else(|| damaged(path, "it cannot be made"))?;
        let written = next.write_all(&bytes).and_then(|()| next.sync_data());
        if let Err(error) = written {
            let _ = directory.remove(NEXT);
            return Err(error);
        }
        directory.rename(NEXT, compat::INDEX)?;
        directory.sync()
    }

    /// Returns what it says of a session, as far as it can be understood.
    pub(crate) fn get(&self, key: &str) -> Option<SessionEntry> {
        self.entries.get(key).and_then(view)
    }

    /// Returns every session that can be understood.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&String, SessionEntry)> {
        self.entries
            .iter()
            .filter_map(|(key, value)| Some((key, view(value)?)))
    }

    /// Changes what it says of a session; what the change does not touch stays as it was, understood or not.
    pub(crate) fn set(&mut self, key: &str, entry: &SessionEntry) {
        let old = self.entries.get(key).and_then(view).unwrap_or_default();
        let (Ok(Value::Object(old)), Ok(Value::Object(new))) =
            (serde_json::to_value(old), serde_json::to_value(entry))
        else {
            return;
        };
        let slot = self
            .entries
            .entry(key)
            .or_insert_with(|| Value::Object(Map::new()));
        if !slot.is_object() {
            *slot = Value::Object(Map::new());
        }
        let Value::Object(raw) = slot else { return };
        for (name, value) in &new {
            if old.get(name) != Some(value) || !raw.contains_key(name) {
                raw.insert(name.clone(), value.clone());
            }
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            raw.shift_remove(name);
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.entries.shift_remove(key);
    }
}

/// Understands an entry. A field of another kind than we know is passed over, not the whole entry.
fn view(value: &Value) -> Option<SessionEntry> {
    if let Ok(entry) = SessionEntry::deserialize(value) {
        return Some(entry);
    }
    let understood: Map<String, Value> = value
        .as_object()?
        .iter()
        .filter(|(name, value)| {
            let one = Map::from_iter([((*name).clone(), (*value).clone())]);
            SessionEntry::deserialize(&Value::Object(one)).is_ok()
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    SessionEntry::deserialize(&Value::Object(understood)).ok()
}

impl SessionEntry {
    /// Returns the name of the transcript; `None` when the index names nothing that can be one.
    pub(crate) fn transcript_name(&self) -> Option<String> {
        names::transcript(&self.session_id, self.session_file.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_stays() {
        let mut index = Index {
            entries: Map::from_iter([
                (
                    "a".to_owned(),
                    json!({"sessionId": "1", "updatedAt": 5, "inputTokens": "many", "label": "x"}),
                ),
                ("b".to_owned(), json!("odd")),
            ]),
        };
        let mut entry = index.get("a").unwrap();
        assert_eq!((entry.updated_at, entry.input_tokens), (5, None));
        entry.updated_at = 6;
        entry.model = Some("m".to_owned());
        index.set("a", &entry);
        assert_eq!(
            Value::Object(index.entries),
            json!({
                "a": {"sessionId": "1", "updatedAt": 6, "inputTokens": "many", "label": "x", "model": "m"},
                "b": "odd",
            })
        );
    }
}
