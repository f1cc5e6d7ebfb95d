//! The index: which session has which transcript (R15, R17). Fields and entries that we do not know are kept.

mod batch;
mod file;
mod slot;
mod turn;

pub(crate) use file::IndexFile;
pub(crate) use turn::Turn;

use crate::compat;
use crate::disk::{Directory, File, Fingerprint, Open, damaged};
use crate::store::{LockMode, SessionEntry, StoreError};
use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use slot::Slot;
use std::fmt;
use std::sync::Arc;

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

/// What the index says. A copy shares its entries, and an entry that does not change is copied when it is written, not made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    entries: IndexMap<Arc<str>, Arc<Slot>>,
}

/// Why there is no index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        let _turn = directory.turn(WAIT);
        if file.lock_soon(WAIT)? {
            Ok(Self { _file: file })
        } else {
            Err(damaged(path, "another process does not let it go"))
        }
    }
}

impl Index {
    pub(crate) fn read(directory: &Directory) -> Result<Result<Self, NoIndex>, StoreError> {
        match directory.file(compat::INDEX, Open::Read)? {
            Some(file) => Self::read_file(&file).map(|index| index.ok_or(NoIndex::Damaged)),
            None => Ok(Err(NoIndex::Missing)),
        }
    }

    /// Reads an index; `None` when it is none.
    fn read_file(file: &File) -> Result<Option<Self>, StoreError> {
        let bytes = file.read_all(MAX_BYTES)?;
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// Writes the index beside its place, onto the disk. Returns the file and its mark.
    fn write_beside(
        &self,
        directory: &Directory,
        _lock: &IndexLock,
    ) -> Result<(File, Fingerprint), StoreError> {
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
        let written = next
            .write_all(&self.to_bytes())
            .and_then(|()| next.mark())
            .and_then(|mark| next.sync_data().map(|()| mark));
        match written {
            Ok(mark) => Ok((next, mark)),
            Err(error) => {
                let _ = directory.remove(NEXT);
                Err(error)
            }
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let length: usize = self
            .entries
            .iter()
            .map(|(key, slot)| key.len() + slot.text().len() + 16)
            .sum();
        let mut bytes = Vec::with_capacity(length + 8);
        bytes.push(b'{');
        for (number, (key, slot)) in self.entries.iter().enumerate() {
            bytes.extend_from_slice(if number == 0 { b"\n  " } else { b",\n  " });
            // A key is a string, and bytes take everything: this cannot fail.
            let _ = serde_json::to_writer(&mut bytes, key);
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(slot.text().as_bytes());
        }
        if !self.entries.is_empty() {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"}\n");
        bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns what it says of a session, as far as it can be understood.
    pub(crate) fn get(&self, key: &str) -> Option<&SessionEntry> {
        self.entries.get(key)?.view()
    }

    /// Returns every session that can be understood.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&str, &SessionEntry)> {
        self.entries
            .iter()
            .filter_map(|(key, slot)| Some((&**key, slot.view()?)))
    }

    /// Changes what it says of a session; what the change does not touch stays as it was, understood or not. Returns the entry
    /// if anything is different now.
    pub(crate) fn set(&mut self, key: &str, entry: &SessionEntry) -> Option<&Arc<Slot>> {
        let slot = Arc::new(Slot::changed(self.entries.get(key), entry)?);
        if let Some(old) = self.entries.get_mut(key) {
            *old = slot;
        } else {
            self.entries.insert(key.into(), slot);
        }
        self.entries.get(key)
    }

    /// Takes a session out of it; tells whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        self.entries.shift_remove(key).is_some()
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Index;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index of sessions")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
                let mut index = Index::default();
                while let Some((key, text)) = map.next_entry::<Arc<str>, Box<RawValue>>()? {
                    index.entries.insert(key, Arc::new(Slot::new(text.into())));
                }
                Ok(index)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_stays() {
        let text = json!({
            "a": {"sessionId": "1", "updatedAt": 5, "inputTokens": "many", "label": "x", "own": 1e2},
            "b": "odd",
        });
        let mut index: Index = serde_json::from_str(&text.to_string()).unwrap();
        let mut entry = index.get("a").unwrap().clone();
        assert_eq!((entry.updated_at, entry.input_tokens), (5, None));
        assert!(index.set("a", &entry).is_none());
        entry.updated_at = 6;
        entry.model = Some("m".to_owned());
        assert!(index.set("a", &entry).is_some());
        let written = String::from_utf8(index.to_bytes()).unwrap();
        let expected = json!({
            "a": {"sessionId": "1", "updatedAt": 6, "inputTokens": "many", "label": "x", "own": 1e2, "model": "m"},
            "b": "odd",
        });
        assert_eq!(
            written,
            serde_json::to_string_pretty(&expected).unwrap() + "\n"
        );
    }

    #[test]
    fn an_entry_that_nobody_changes_is_written_as_it_was_read() {
        let text = "{\"a\" : {\"n\":1.50, \"u\":\"\\u0041\"} }";
        let mut index: Index = serde_json::from_str(text).unwrap();
        index.set("b", &SessionEntry::default());
        let written = String::from_utf8(index.to_bytes()).unwrap();
        assert!(written.starts_with(
            "{\n  \"a\": {\"n\":1.50, \"u\":\"\\u0041\"},\n  \"b\": {\n    \"sessionId\""
        ));
        index.remove("a");
        index.remove("b");
        assert_eq!(index.to_bytes(), b"{}\n");
    }
}
