//! What is open, by age.

use super::{JobChange, OpenItem};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is open, by age.
#[derive(Debug, Default)]
pub(super) struct OpenItems {
    by_age: BTreeMap<u64, (OpenItem, u64)>,
    ages: HashMap<String, u64>,
    next: u64,
    /// How many bytes of the file are about what is open, roughly.
    bytes: Arc<AtomicU64>,
}

impl OpenItems {
    /// Applies a batch that takes so many bytes.
    pub(super) fn apply(&mut self, batch: Vec<JobChange>, bytes: usize) {
        let opens = |change: &&JobChange| matches!(change, JobChange::Open { .. });
        let each = bytes as u64 / (batch.iter().filter(opens).count().max(1) as u64);
        for change in batch {
            self.change(change, each);
        }
    }

    /// Returns what is open, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenItem> {
        self.by_age.values().map(|(item, _)| item)
    }

    /// Returns how many bytes are about what is open, roughly; it goes on counting.
    pub(super) fn bytes(&self) -> &Arc<AtomicU64> {
        &self.bytes
    }

    fn change(&mut self, change: JobChange, bytes: u64) {
        match change {
            JobChange::Open { id, body } => {
                self.close(&id);
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
        }
    }

    fn close(&mut self, id: &str) {
        let age = self.ages.remove(id);
        if let Some((_, bytes)) = age.and_then(|age| self.by_age.remove(&age)) {
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
