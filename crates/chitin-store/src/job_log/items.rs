//! What is open, by age, and where the outcomes of what is over stand.

use super::outcomes::{Name, OutcomeLimits, Outcomes, Place, name};
use super::{JobChange, OpenItem};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What surrounds an outcome in a line of its own, roughly, in bytes.
const FRAME: usize = 64;

/// The names that the log knows, for those who do not write it.
#[derive(Debug, Clone, Default)]
pub(super) struct Known(Arc<Mutex<Names>>);

/// Names of jobs.
#[derive(Debug, Default)]
pub(super) struct Names {
    open: HashSet<Name>,
    pub(super) outcomes: Outcomes,
}

impl Known {
    pub(super) fn new(limits: OutcomeLimits) -> Self {
        let outcomes = Outcomes::new(limits);
        let open = HashSet::new();
        Self(Arc::new(Mutex::new(Names { open, outcomes })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a job is open, or its outcome is kept.
    pub(super) fn knows(&self, id: &str, now_ms: i64) -> bool {
        let names = self.lock();
        names.open.contains(&name(id)) || names.outcomes.find(id, now_ms).is_some()
    }

    pub(super) fn is_open(&self, id: &str) -> bool {
        self.lock().open.contains(&name(id))
    }

    /// Forgets all names: the file is about to be read again.
    pub(super) fn clear(&self) {
        let mut names = self.lock();
        names.open.clear();
        names.outcomes.clear();
    }

    pub(super) fn outcome(&self, id: &str, now_ms: i64) -> Option<Place> {
        self.lock().outcomes.find(id, now_ms)
    }
}

/// What is open, by age.
#[derive(Debug, Default)]
pub(super) struct OpenItems {
    by_age: BTreeMap<u64, (OpenItem, u64)>,
    ages: HashMap<String, u64>,
    next: u64,
    /// How many bytes of the file are about what is open, roughly.
    bytes: Arc<AtomicU64>,
    known: Known,
}

impl OpenItems {
    pub(super) fn new(known: Known) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }

    /// Applies a batch whose line begins at a place and has so many bytes.
    pub(super) fn apply(&mut self, batch: Vec<JobChange>, offset: u64, bytes: u64) {
        let opens = |change: &&JobChange| matches!(change, JobChange::Open { .. });
        let each = bytes / (batch.iter().filter(opens).count().max(1) as u64);
        let is_alone = batch.len() == 1;
        for change in batch {
            self.change(change, each, (offset, bytes), is_alone);
        }
    }

    /// Returns the names that others may ask for.
    pub(super) const fn known(&self) -> &Known {
        &self.known
    }

    /// Returns what is open, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenItem> {
        self.by_age.values().map(|(item, _)| item)
    }

    /// Returns how many bytes are about what is open, roughly; it goes on counting.
    pub(super) fn bytes(&self) -> &Arc<AtomicU64> {
        &self.bytes
    }

    /// Counts from now on with another counter, which others look at.
    pub(super) fn count_with(&mut self, bytes: &Arc<AtomicU64>) {
        bytes.store(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        self.bytes = Arc::clone(bytes);
    }

    fn change(&mut self, change: JobChange, bytes: u64, line: (u64, u64), is_alone: bool) {
        match change {
            JobChange::Open { id, body } => {
                self.close(&id);
                let mut names = self.known.lock();
                names.open.insert(name(&id));
                names.outcomes.forget(&id);
                drop(names);
                let age = self.next;
                self.next += 1;
                self.ages.insert(id.clone(), age);
                let marks = Vec::new();
                self.by_age
                    .insert(age, (OpenItem { id, body, marks }, bytes));
                self.bytes.fetch_add(bytes, Ordering::Relaxed);
            }
            JobChange::Mark { id, mark } => {
                let age = self.ages.get(&id);
                if let Some((item, _)) = age.and_then(|age| self.by_age.get_mut(age)) {
                    item.marks.push(mark);
                }
            }
            JobChange::Close { id } => self.close(&id),
            JobChange::End { id, at, outcome } => {
                // Messages that get one turn end in the line in which it opens; what it was asked is not theirs.
                let own = if is_alone {
                    line.1
                } else {
                    line.1
                        .min((FRAME + id.len() + outcome.to_string().len()) as u64)
                };
                // In this order: who asks in between finds it in both, never in neither.
                self.known.lock().outcomes.keep(&id, at, line, own);
                self.close(&id);
            }
        }
    }

    pub(super) fn close(&mut self, id: &str) {
        let Some(age) = self.ages.remove(id) else {
            return;
        };
        self.known.lock().open.remove(&name(id));
        if let Some((_, bytes)) = self.by_age.remove(&age) {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

impl OpenItem {
    /// Makes the batch that opens it with its marks.
    pub(super) fn batch(&self) -> Vec<JobChange> {
        let mut batch = vec![JobChange::Open {
            id: self.id.clone(),
            body: self.body.clone(),
        }];
        batch.extend(self.marks.iter().map(|mark| JobChange::Mark {
            id: self.id.clone(),
            mark: mark.clone(),
        }));
        batch
    }
}
