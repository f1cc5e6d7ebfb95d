//! Entries as they were understood, as long as they are used.

use crate::store::SessionEntry;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many entries are kept: between once and twice as many.
const KEPT: usize = 1_024;

/// Entries as they were understood. Those that nobody used while so many others were used are forgotten.
#[derive(Debug, Default)]
pub(super) struct Views(Mutex<Generations>);

#[derive(Debug, Default, Clone)]
struct Generations {
    young: HashMap<Arc<str>, Arc<SessionEntry>>,
    old: HashMap<Arc<str>, Arc<SessionEntry>>,
}

impl Clone for Views {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.lock().clone()))
    }
}

impl Views {
    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &Arc<str>) -> Option<Arc<SessionEntry>> {
        let mut views = self.lock();
        if let Some(entry) = views.young.get(key) {
            return Some(Arc::clone(entry));
        }
        let (key, entry) = views.old.remove_entry(key)?;
        views.keep(key, Arc::clone(&entry));
        Some(entry)
    }

    pub(super) fn keep(&self, key: Arc<str>, entry: Arc<SessionEntry>) {
        self.lock().keep(key, entry);
    }

    pub(super) fn forget(&self, key: &str) {
        let mut views = self.lock();
        views.young.remove(key);
        views.old.remove(key);
    }
}

impl Generations {
    fn keep(&mut self, key: Arc<str>, entry: Arc<SessionEntry>) {
        if self.young.len() >= KEPT {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }
}
