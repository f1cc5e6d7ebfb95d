//! Which messages were taken in lately, so that one that is handed in twice gets one turn.

use crate::gateway::Inner;
use sha2::{Digest, Sha256};
use std::collections::{HashSet, VecDeque};
use std::sync::PoisonError;

/// How many names of messages are remembered, so that none is taken in twice.
const REMEMBERED: usize = 8192;

/// The names of jobs that were taken in lately.
#[derive(Default)]
pub(crate) struct Recent {
    /// Digests, not names: small things that stay would keep the memory around them from going back.
    names: HashSet<u128>,
    order: VecDeque<u128>,
}

impl Inner {
    /// Tells whether a job was taken in before, and remembers the others for a while.
    pub(crate) fn is_known(&self, job_id: &str) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(job_id);
        if !recent.names.insert(name) {
            return true;
        }
        recent.order.push_back(name);
        if recent.order.len() > REMEMBERED
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.names.remove(&oldest);
        }
        false
    }

    /// Forgets a name: nothing was taken in under it.
    pub(crate) fn forget(&self, job_id: &str) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(job_id);
        if recent.names.remove(&name) {
            recent.order.retain(|known| *known != name);
        }
    }
}

/// Returns the first half of a name's SHA-256.
fn digest(name: &str) -> u128 {
    let digest = Sha256::digest(name);
    let half = digest.first_chunk::<16>();
    half.map_or(0, |half| u128::from_be_bytes(*half))
}
