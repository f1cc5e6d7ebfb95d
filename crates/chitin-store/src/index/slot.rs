//! One entry of the index: its text, and what is understood of it.

use crate::store::SessionEntry;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One entry of the index. Its text is what is written; it is understood when somebody asks.
#[derive(Debug)]
pub(crate) struct Slot {
    text: OnceLock<Box<str>>,
    view: OnceLock<Option<SessionEntry>>,
    /// What the text is made of, as long as there is none: making it may be left to a thread that holds no lock.
    change: Mutex<Option<Change>>,
}

/// What an entry was, and what is to be understood of it now.
#[derive(Debug)]
struct Change {
    old: Option<Arc<Slot>>,
    entry: SessionEntry,
}

impl Slot {
    /// An entry whose text is JSON.
    pub(super) fn new(text: Box<str>) -> Self {
        Self {
            text: OnceLock::from(text),
            view: OnceLock::new(),
            change: Mutex::new(None),
        }
    }

    /// Makes an entry say something else. What the change does not touch stays as it was, understood or not. `None` when
    /// nothing would be different.
    pub(super) fn changed(old: Option<&Arc<Self>>, entry: &SessionEntry) -> Option<Self> {
        if old.and_then(|slot| slot.view()) == Some(entry) {
            return None;
        }
        let change = Change {
            old: old.map(Arc::clone),
            entry: entry.clone(),
        };
        Some(Self {
            text: OnceLock::new(),
            view: OnceLock::new(),
            change: Mutex::new(Some(change)),
        })
    }

    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut change = self.change.lock().unwrap_or_else(PoisonError::into_inner);
            change.take().map(Change::text).unwrap_or_default()
        })
    }

    /// Returns what is understood of it; `None` when it is no entry at all.
    pub(super) fn view(&self) -> Option<&SessionEntry> {
        self.view
            .get_or_init(|| view(&serde_json::from_str(self.text()).ok()?))
            .as_ref()
    }
}

impl Change {
    fn text(self) -> Box<str> {
        let old = self.old.as_deref();
        let mut raw: Map<String, Value> = old
            .and_then(|slot| serde_json::from_str(slot.text()).ok())
            .unwrap_or_default();
        let before = old.and_then(Slot::view).map(fields).unwrap_or_default();
        let after = fields(&self.entry);
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
