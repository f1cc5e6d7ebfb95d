//! Which messages were taken in lately, so that one that is handed in twice gets one turn.

use crate::gateway::Inner;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How many names of messages are remembered besides those that the job log knows.
const REMEMBERED: usize = 8192;

/// The names of jobs that were taken in lately, and of those that are being taken in.
#[derive(Default)]
pub(crate) struct Recent {
    /// Digests, not names: small things that stay would keep the memory around them from going back.
    names: HashMap<u128, State>,
    order: VecDeque<u128>,
}

enum State {
    /// It was taken in.
    Taken,
    /// Somebody is about to take it in, and lets go of the other end when that is decided.
    Claimed(watch::Receiver<()>),
}

/// The right to take in a job of some name. Dropped without a word, nothing was taken in.
pub(crate) struct Claim {
    inner: Arc<Inner>,
    name: u128,
    is_taken: bool,
    _decided: watch::Sender<()>,
}

impl Claim {
    /// The job is on the disk.
    pub(crate) fn taken(mut self) {
        self.is_taken = true;
        self.inner.recent().remember(self.name);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_taken {
            self.inner.recent().names.remove(&self.name);
        }
    }
}

impl Recent {
    fn remember(&mut self, name: u128) {
        self.names.insert(name, State::Taken);
        self.order.push_back(name);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.names.remove(&oldest);
        }
    }
}

impl Inner {
    /// Returns the right to take in a job of this name; nothing when one was taken in before. Waits for whoever is about to take
    /// it in: what is not on the disk yet is not known.
    pub(crate) async fn claim(self: &Arc<Self>, job_id: &str) -> Option<Claim> {
        let name = digest(job_id);
        loop {
            if self.parts.ledger.knows(job_id, self.parts.clock.now_ms()) {
                return None;
            }
            let mut decided = {
                let mut recent = self.recent();
                match recent.names.get(&name) {
                    Some(State::Taken) => return None,
                    Some(State::Claimed(decided)) => decided.clone(),
                    None => {
                        let (sender, receiver) = watch::channel(());
                        recent.names.insert(name, State::Claimed(receiver));
                        return Some(Claim {
                            inner: Arc::clone(self),
                            name,
                            is_taken: false,
                            _decided: sender,
                        });
                    }
                }
            };
            // Nothing is ever sent: it ends when the other one has decided.
            while decided.changed().await.is_ok() {}
        }
    }

    /// Remembers a job that was taken in by an earlier process.
    pub(crate) fn remember(&self, job_id: &str) {
        self.recent().remember(digest(job_id));
    }

    /// Forgets jobs, so that messages of their names are new ones.
    pub(crate) fn forget_names(&self, job_ids: &[String]) {
        let mut recent = self.recent();
        for name in job_ids.iter().map(|id| digest(id)) {
            if matches!(recent.names.get(&name), Some(State::Taken)) {
                recent.names.remove(&name);
                recent.order.retain(|other| *other != name);
            }
        }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the first half of a name's SHA-256.
fn digest(name: &str) -> u128 {
    let digest = Sha256::digest(name);
    let half = digest.first_chunk::<16>();
    half.map_or(0, |half| u128::from_be_bytes(*half))
}
