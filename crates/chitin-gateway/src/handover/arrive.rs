//! The successor's side: sessions in which turns of the predecessor still run are left alone until they are free.

use super::FromPredecessor;
use crate::gateway::{Gateway, Inner};
use chitin_store::{JobChange, OpenItem};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Sessions in which turns of the predecessor run.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    sessions: Mutex<HashSet<String>>,
    freed: Notify,
}

impl Elsewhere {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are none.
    async fn is_empty(&self) {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if self.lock().is_empty() {
                return;
            }
            freed.await;
        }
    }
}

/// What is left of the predecessor. Dropped, it is gone: what it left undone is taken up.
#[derive(Debug)]
pub struct Predecessor(Arc<Inner>);

impl Gateway {
    /// Takes up again what is open, as [`Self::recover`] does, but for these sessions: turns of the predecessor run there. What is to be
    /// done in them waits. To be called once, inside a runtime.
    pub fn recover_beside(
        &self,
        open: Vec<OpenItem>,
        sessions: Vec<String>,
    ) -> (usize, Predecessor) {
        let inner = &self.0;
        {
            // A session that has something to do and that nobody drives.
            let mut busy = inner.busy.lock();
            for key in &sessions {
                busy.entry(key.clone()).or_default();
            }
            inner.elsewhere.lock().extend(sessions);
        }
        let count = self.recover(open);
        // An end waits for the predecessor's turns as for its own.
        let waiting = Arc::clone(inner);
        inner
            .tasks
            .spawn(async move { waiting.elsewhere.is_empty().await });
        (count, Predecessor(Arc::clone(inner)))
    }

    /// Waits until no turn of the predecessor runs any more.
    pub async fn is_alone(&self) {
        self.0.elsewhere.is_empty().await;
    }
}

impl Predecessor {
    /// Hears what the predecessor says.
    pub async fn said(&self, said: FromPredecessor) {
        match said {
            FromPredecessor::Changes(changes) => {
                for change in &changes {
                    self.0.happened_elsewhere(change);
                }
                self.0.parts.ledger.note(changes);
            }
            FromPredecessor::Ended(ended) => {
                let done = std::iter::once(&ended.job);
                let done = done.chain(ended.steered.iter().map(|(job, _)| job));
                let done: HashSet<&str> = done.map(|job| job.id.as_str()).collect();
                let key = &ended.job.session_key;
                if let Some(session) = self.0.busy.lock().get_mut(key) {
                    session
                        .first
                        .retain(|(job, _)| !done.contains(job.id.as_str()));
                }
                self.0.close_turn(*ended).await;
            }
            FromPredecessor::Free(key) => self.0.take_up(&key),
        }
    }
}

impl Drop for Predecessor {
    fn drop(&mut self) {
        let left: Vec<String> = self.0.elsewhere.lock().iter().cloned().collect();
        for key in left {
            self.0.take_up(&key);
        }
    }
}

impl Inner {
    /// No turn of the predecessor runs in a session any more.
    fn take_up(self: &Arc<Self>, key: &str) {
        if self.elsewhere.lock().remove(key) {
            self.drive(key.to_owned());
            self.elsewhere.freed.notify_waiters();
        }
    }

    /// Notes a change that the predecessor made, for when the job is taken up.
    fn happened_elsewhere(&self, change: &JobChange) {
        let elsewhere = self.elsewhere.lock();
        let mut busy = self.busy.lock();
        let mut sessions = elsewhere.iter().filter(|key| {
            // Two borrows of one map at once: the keys are looked up one after the other.
            busy.contains_key(*key)
        });
        match change {
            JobChange::Mark { id, mark } => {
                let key = sessions.find(|key| {
                    let session = busy.get(*key);
                    session
                        .is_some_and(|session| session.first.iter().any(|(job, _)| job.id == *id))
                });
                let session = key.cloned().and_then(|key| busy.get_mut(&key));
                for (job, marks) in session.into_iter().flat_map(|session| &mut session.first) {
                    if job.id == *id {
                        marks.insert(mark.clone());
                    }
                }
            }
            JobChange::Close { id } | JobChange::End { id, .. } => {
                let keys: Vec<String> = sessions.cloned().collect();
                for key in keys {
                    let Some(session) = busy.get_mut(&key) else {
                        continue;
                    };
                    let before = session.first.len();
                    session.first.retain(|(job, _)| job.id != *id);
                    let gone = before - session.first.len();
                    self.open.fetch_sub(gone, Ordering::Relaxed);
                }
            }
            // What turns begin waits for the successor, so there is none.
            JobChange::Open { .. } => {}
        }
    }
}
