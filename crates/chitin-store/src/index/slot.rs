//! A change of one entry of the index: what it says now, and the text that is written.

use crate::names;
use crate::store::SessionEntry;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What an entry says from now on. Its text is made when somebody asks, which need not be under a lock.
#[derive(Debug)]
pub(crate) struct Slot {
    entry: SessionEntry,
    text: OnceLock<Box<str>>,
    /// What the text is made of, as long as there is none.
    old: Mutex<Option<OldEntry>>,
}

/// What an entry was.
#[derive(Debug)]
pub(super) struct OldEntry {
    pub(super) text: String,
    /// What is understood of it; `None` when it is no entry at all.
    pub(super) entry: Option<SessionEntry>,
}

impl Slot {
    /// Makes an entry say something else. What the change does not touch stays as it was, understood or not. `None` when
    /// nothing would be different.
    pub(super) fn changed(old: Option<OldEntry>, entry: &SessionEntry) -> Option<Self> {
        if old.as_ref().and_then(|old| old.entry.as_ref()) == Some(entry) {
            return None;
        }
        Some(Self {
            entry: entry.clone(),
            text: OnceLock::new(),
            old: Mutex::new(old),
        })
    }

    pub(super) const fn entry(&self) -> &SessionEntry {
        &self.entry
    }

    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut old = self.old.lock().unwrap_or_else(PoisonError::into_inner);
            text(old.take(), &self.entry)
        })
    }
}

fn text(old: Option<OldEntry>, entry: &SessionEntry) -> Box<str> {
    let (old_text, old) = old.map_or((None, None), |old| (Some(old.text), old.entry));
    let mut raw: Map<String, Value> = old_text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    let before = old.as_ref().map(fields).unwrap_or_default();
    let after = fields(entry);
    for (name, value) in &after {
        if before.get(name) != Some(value) || !raw.contains_key(name) {
            raw.insert(name.clone(), value.clone());
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        raw.shift_remove(name);
    }
    indented(&raw).into()
}

fn fields(entry: &SessionEntry) -> Map<String, Value> {
    match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Writes an entry as it stands in the index: one step further in than by itself. No string holds a line end of its own.
fn indented(raw: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(raw)
        .unwrap_or_default()
        .replace('\n', "\n  ")
}

/// Understands an entry; `None` when it is none. A field of another kind than we know is passed over, not the whole entry.
pub(super) fn view(text: &str) -> Option<SessionEntry> {
    let value: Value = serde_json::from_str(text).ok()?;
    if let Ok(entry) = SessionEntry::deserialize(&value) {
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

/// The one field that a list is sorted by.
#[derive(Deserialize)]
struct Used<'a> {
    #[serde(borrow, default, rename = "updatedAt")]
    updated_at: Option<&'a RawValue>,
}

/// The fields that name a transcript.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Named<'a> {
    #[serde(borrow)]
    session_id: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    session_file: Option<std::borrow::Cow<'a, str>>,
}

/// Returns the transcript of an entry, without understanding the rest of it.
pub(super) fn transcript_name(text: &str) -> Option<String> {
    match serde_json::from_str::<Named<'_>>(text) {
        Ok(named) => names::transcript(&named.session_id, named.session_file.as_deref()),
        // A field of another kind, or one that is there twice.
        Err(_) => view(text)?.transcript_name(),
    }
}

/// Returns when an entry was last used, without understanding the rest of it; `None` when it is no entry.
pub(super) fn updated_at(text: &str) -> Option<i64> {
    if !text.starts_with('{') {
        return None;
    }
    let Ok(used) = serde_json::from_str::<Used<'_>>(text) else {
        return view(text).map(|entry| entry.updated_at);
    };
    let known = used.updated_at.map(RawValue::get);
    Some(known.and_then(|text| text.parse().ok()).unwrap_or_default())
}
