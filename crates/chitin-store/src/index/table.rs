//! What the index says, in little memory: of each session its key, when it was last used, and where in the file its entry is.

use super::slot::{self, OldEntry, Slot};
use super::views::Views;
use crate::disk::{File, damaged};
use crate::store::{SessionCursor, SessionEntry, SessionPage, StoreError};
use indexmap::IndexMap;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

/// How much of the file is read at a time by who reads all of it.
const CHUNK: usize = 1 << 20;

/// What is changed and not written yet: what a session is from now on, or nothing when it goes.
pub(crate) type Pending = IndexMap<Arc<str>, Option<Arc<Slot>>>;

/// What the index says. Entries stand in the file and are read when somebody asks for one; those that were used last are kept
/// as they were understood.
#[derive(Debug, Default)]
pub(crate) struct Index {
    rows: HashMap<Arc<str>, Row>,
    /// The sessions, the most recently used first.
    recent: BTreeSet<Recent>,
    /// The place of the next new row.
    next: u32,
    /// The file that entries stand in.
    file: Option<Arc<File>>,
    views: Views,
    /// Which state of the index this is: no other has the same number.
    version: u64,
    /// Which state it was when a session last came or changed; taking one away does not count.
    claims: u64,
}

type Recent = (Reverse<i64>, Arc<str>);

/// One session.
#[derive(Debug)]
struct Row {
    text: Text,
    /// When it was last used; none when it is no entry at all.
    updated_at: Option<i64>,
    /// Which place it has in the file.
    order: u32,
}

/// Where the text of an entry is.
#[derive(Debug)]
enum Text {
    /// In the file.
    At { offset: u64, bytes: u32 },
    /// Here.
    Held(Box<str>),
}

/// Whether texts stay in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// They do: the file is ours and held open.
    InFile,
    /// They are held: the file may be written to by others at any time.
    InMemory,
}

impl Index {
    /// Reads an index; `None` when it is none.
    pub(super) fn parse(file: &Arc<File>, bytes: &[u8], keep: Keep) -> Option<Self> {
        let mut index = Self::default();
        let begin = bytes.as_ptr() as usize;
        let text = std::str::from_utf8(bytes).ok()?;
        let entries = Entries(|key: Arc<str>, entry: &RawValue| {
            let entry = entry.get();
            let place = match keep {
                // The text was borrowed from the bytes of the file.
                Keep::InFile => (entry.as_ptr() as usize)
                    .checked_sub(begin)
                    .zip(u32::try_from(entry.len()).ok()),
                Keep::InMemory => None,
            };
            let text = match place {
                Some((offset, bytes)) => Text::At {
                    offset: offset as u64,
                    bytes,
                },
                None => Text::Held(entry.into()),
            };
            index.put(key, text, slot::updated_at(entry));
        });
        let mut json = serde_json::Deserializer::from_str(text);
        json.deserialize_map(entries).ok()?;
        json.end().ok()?;
        index.rows.shrink_to_fit();
        if keep == Keep::InFile {
            index.file = Some(Arc::clone(file));
        }
        Some(index)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    pub(crate) const fn claims(&self) -> u64 {
        self.claims
    }

    /// Says that it is a state of its own.
    pub(super) const fn numbered(&mut self, version: u64) {
        self.version = version;
        self.claims = version;
    }

    /// Returns what it says of a session, as far as it can be understood.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Arc<SessionEntry>>, StoreError> {
        let Some((key, row)) = self.rows.get_key_value(key) else {
            return Ok(None);
        };
        if row.updated_at.is_none() {
            return Ok(None);
        }
        if let Some(known) = self.views.get(key) {
            return Ok(Some(known));
        }
        let text = self.text(row)?;
        let Some(entry) = slot::view(&text) else {
            return Err(self.changed_meanwhile());
        };
        let entry = Arc::new(entry);
        self.views.keep(Arc::clone(key), Arc::clone(&entry));
        Ok(Some(entry))
    }

    /// Returns what is to be kept of an entry when it is changed.
    pub(super) fn old(&self, key: &str) -> Result<Option<OldEntry>, StoreError> {
        let Some(row) = self.rows.get(key) else {
            return Ok(None);
        };
        let text = self.text(row)?.into_owned();
        let entry = slot::view(&text);
        if entry.is_some() != row.updated_at.is_some() {
            return Err(self.changed_meanwhile());
        }
        Ok(Some(OldEntry { text, entry }))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.rows.contains_key(key)
    }

    /// Returns when a session was last used, and 0 for what is no entry; `None` when there is none.
    pub(super) fn updated_at(&self, key: &str) -> Option<i64> {
        let row = self.rows.get(key)?;
        Some(row.updated_at.unwrap_or_default())
    }

    /// Shows every session that can be understood, as they stand in the file.
    pub(crate) fn each(
        &self,
        mut show: impl FnMut(&str, SessionEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut reader = Reader::new(self);
        for (key, row) in self.in_order() {
            if row.updated_at.is_none() {
                continue;
            }
            let entry = slot::view(reader.text(row)?).ok_or_else(|| self.changed_meanwhile())?;
            if show(key, entry).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the transcripts that sessions have.
    pub(crate) fn transcripts(&self) -> Result<HashSet<String>, StoreError> {
        let mut names = HashSet::with_capacity(self.rows.len());
        let mut reader = Reader::new(self);
        for (_, row) in self.in_order() {
            if row.updated_at.is_some() {
                names.extend(slot::transcript_name(reader.text(row)?));
            }
        }
        Ok(names)
    }

    /// Returns every session that can be understood, the most recently used first.
    pub(crate) fn list(&self) -> Result<Vec<(String, SessionEntry)>, StoreError> {
        let mut sessions = Vec::with_capacity(self.recent.len());
        self.each(|key, entry| {
            sessions.push((key.to_owned(), entry));
            ControlFlow::Continue(())
        })?;
        sessions.sort_by(|(a, one), (b, other)| {
            let newest = other.updated_at.cmp(&one.updated_at);
            newest.then_with(|| a.cmp(b))
        });
        Ok(sessions)
    }

    /// Returns some of the sessions, the most recently used first: those after a place, or the first of all.
    pub(crate) fn page(
        &self,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, StoreError> {
        let begin = after.map_or(Bound::Unbounded, |after| {
            Bound::Excluded((Reverse(after.updated_at), Arc::from(after.key.as_str())))
        });
        let mut rest = self.recent.range((begin, Bound::Unbounded));
        let mut sessions = Vec::with_capacity(limit.min(self.recent.len()));
        for (_, key) in rest.by_ref().take(limit) {
            if let Some(row) = self.rows.get(key) {
                // A list is looked at once: it does not push out what is used.
                let entry = match self.views.get(key) {
                    Some(known) => (*known).clone(),
                    None => slot::view(&self.text(row)?).ok_or_else(|| self.changed_meanwhile())?,
                };
                sessions.push((key.to_string(), entry));
            }
        }
        Ok(SessionPage {
            sessions,
            has_more: rest.next().is_some(),
            total: self.recent.len(),
        })
    }

    /// Makes it say something else of a session.
    pub(crate) fn insert(&mut self, key: &str, entry: &SessionEntry) {
        if let Some(slot) = Slot::changed(None, entry) {
            self.put_text(key.into(), slot.text().into());
        }
    }

    /// Gives a session a text that was written elsewhere.
    pub(super) fn put_text(&mut self, key: Arc<str>, text: Box<str>) {
        let updated_at = slot::updated_at(&text);
        self.put(key, Text::Held(text), updated_at);
    }

    /// Makes changes.
    pub(super) fn apply(&mut self, changes: Pending, version: u64) {
        for (key, slot) in changes {
            match slot {
                Some(slot) => {
                    self.put(
                        Arc::clone(&key),
                        Text::Held(slot.text().into()),
                        Some(slot.entry().updated_at),
                    );
                    self.views.keep(key, Arc::new(slot.entry().clone()));
                    self.claims = version;
                }
                None => {
                    self.remove(&key);
                }
            }
        }
        self.version = version;
    }

    /// Takes a session out of it; tells whether it was there.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let Some((key, row)) = self.rows.remove_entry(key) else {
            return false;
        };
        self.views.forget(&key);
        if let Some(updated_at) = row.updated_at {
            self.recent.remove(&(Reverse(updated_at), key));
        }
        true
    }

    fn put(&mut self, key: Arc<str>, text: Text, updated_at: Option<i64>) {
        self.views.forget(&key);
        let (key, order) = if let Some((known, row)) = self.rows.remove_entry(&key) {
            if let Some(before) = row.updated_at {
                self.recent.remove(&(Reverse(before), Arc::clone(&known)));
            }
            (known, row.order)
        } else {
            self.next += 1;
            (key, self.next)
        };
        if let Some(updated_at) = updated_at {
            self.recent.insert((Reverse(updated_at), Arc::clone(&key)));
        }
        let row = Row {
            text,
            updated_at,
            order,
        };
        self.rows.insert(key, row);
    }

    fn in_order(&self) -> Vec<(&Arc<str>, &Row)> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_unstable_by_key(|(_, row)| row.order);
        rows
    }

    fn text<'r>(&self, row: &'r Row) -> Result<Cow<'r, str>, StoreError> {
        match &row.text {
            Text::Held(text) => Ok(Cow::Borrowed(text)),
            Text::At { offset, bytes } => {
                let file = self.file.as_ref().ok_or_else(|| self.changed_meanwhile())?;
                let mut buffer = vec![0; *bytes as usize];
                let read = file.read_at(&mut buffer, *offset)?;
                if read < buffer.len() {
                    return Err(self.changed_meanwhile());
                }
                String::from_utf8(buffer)
                    .map(Cow::Owned)
                    .map_err(|_| self.changed_meanwhile())
            }
        }
    }

    /// Somebody wrote into the file itself, instead of putting another in its place, and that was not seen yet.
    fn changed_meanwhile(&self) -> StoreError {
        let path = self.file.as_ref().map(|file| file.path().to_path_buf());
        damaged(path.unwrap_or_default(), "it changed while it was read")
    }

    /// Writes the index with changes to a file, and returns it as it is there.
    pub(super) fn write(&self, changes: &Pending, to: &File) -> Result<Written, StoreError> {
        let mut out = Writer {
            file: to,
            buffer: Vec::with_capacity(CHUNK / 4),
            written: 0,
            rows: Vec::with_capacity(self.rows.len() + changes.len()),
        };
        let mut reader = Reader::new(self);
        for (key, row) in self.in_order() {
            match changes.get(key) {
                Some(None) => {}
                Some(Some(slot)) => {
                    out.entry(key, slot.text(), Some(slot.entry().updated_at))?;
                }
                None => out.entry(key, reader.text(row)?, row.updated_at)?,
            }
        }
        for (key, slot) in changes {
            if let (Some(slot), false) = (slot, self.has(key)) {
                out.entry(key, slot.text(), Some(slot.entry().updated_at))?;
            }
        }
        out.end()
    }

    /// Returns the index as it was written, in its file now.
    pub(super) fn of_written(
        written: Written,
        file: Arc<File>,
        before: &Self,
        changes: &Pending,
    ) -> Self {
        let mut index = Self {
            rows: HashMap::with_capacity(written.0.len()),
            file: Some(file),
            ..Self::default()
        };
        for (key, updated_at, offset, bytes) in written.0 {
            index.put(key, Text::At { offset, bytes }, updated_at);
        }
        index.views = before.views.clone();
        for (key, slot) in changes {
            match slot {
                Some(slot) => index
                    .views
                    .keep(Arc::clone(key), Arc::new(slot.entry().clone())),
                None => index.views.forget(key),
            }
        }
        index
    }
}

/// Where each entry was written to.
pub(super) struct Written(Vec<(Arc<str>, Option<i64>, u64, u32)>);

struct Writer<'f> {
    file: &'f File,
    buffer: Vec<u8>,
    /// How much was handed to the file.
    written: u64,
    rows: Vec<(Arc<str>, Option<i64>, u64, u32)>,
}

impl Writer<'_> {
    fn entry(
        &mut self,
        key: &Arc<str>,
        text: &str,
        updated_at: Option<i64>,
    ) -> Result<(), StoreError> {
        let before: &[u8] = if self.rows.is_empty() {
            b"{\n  "
        } else {
            b",\n  "
        };
        self.buffer.extend_from_slice(before);
        // A key is a string, and bytes take everything: this cannot fail.
        let _ = serde_json::to_writer(&mut self.buffer, key);
        self.buffer.extend_from_slice(b": ");
        let offset = self.written + self.buffer.len() as u64;
        self.buffer.extend_from_slice(text.as_bytes());
        let bytes = u32::try_from(text.len())
            .map_err(|_| damaged(self.file.path().to_path_buf(), "an entry is too long"))?;
        self.rows.push((Arc::clone(key), updated_at, offset, bytes));
        if self.buffer.len() >= CHUNK / 4 {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn end(mut self) -> Result<Written, StoreError> {
        let end: &[u8] = if self.rows.is_empty() {
            b"{}\n"
        } else {
            b"\n}\n"
        };
        self.buffer.extend_from_slice(end);
        self.flush()?;
        Ok(Written(self.rows))
    }
}

/// Reads entries in the order of the file, a piece at a time.
struct Reader<'i> {
    index: &'i Index,
    piece: Vec<u8>,
    begin: u64,
}

impl<'i> Reader<'i> {
    const fn new(index: &'i Index) -> Self {
        Self {
            index,
            piece: Vec::new(),
            begin: 0,
        }
    }

    fn text<'s>(&'s mut self, row: &'s Row) -> Result<&'s str, StoreError> {
        let (offset, bytes) = match &row.text {
            Text::Held(text) => return Ok(text),
            Text::At { offset, bytes } => (*offset, *bytes as usize),
        };
        let end = offset + bytes as u64;
        if offset < self.begin || end > self.begin + self.piece.len() as u64 {
            let file = self.index.file.as_ref();
            let file = file.ok_or_else(|| self.index.changed_meanwhile())?;
            self.piece.resize(bytes.max(CHUNK), 0);
            let read = file.read_at(&mut self.piece, offset)?;
            self.piece.truncate(read);
            self.begin = offset;
        }
        let from = usize::try_from(offset - self.begin).unwrap_or(usize::MAX);
        let text = self.piece.get(from..from.saturating_add(bytes));
        text.and_then(|text| std::str::from_utf8(text).ok())
            .ok_or_else(|| self.index.changed_meanwhile())
    }
}

/// Takes the entries of an index one by one.
struct Entries<F>(F);

impl<'de, F: FnMut(Arc<str>, &'de RawValue)> Visitor<'de> for Entries<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index of sessions")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, text)) = map.next_entry::<Arc<str>, &'de RawValue>()? {
            (self.0)(key, text);
        }
        Ok(())
    }
}
