//! One turn at a time per session, in the order in which they were asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};

/// The lanes of this process. Other processes are kept out by the store's own lock.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    gates: Mutex<HashMap<String, Weak<Gate<()>>>>,
}

impl Lanes {
    /// Waits until no other turn of the session runs. Giving up the wait is safe.
    pub(crate) async fn enter(&self, session_key: &str) -> OwnedMutexGuard<()> {
        let gate = {
            let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            let known = gates.get(session_key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let gate = Arc::new(Gate::new(()));
                gates.insert(session_key.to_owned(), Arc::downgrade(&gate));
                gate
            })
        };
        gate.lock_owned().await
    }

    /// Forgets the gate of a session that nobody waits for: a session that rests takes no memory.
    pub(crate) fn leave(&self, session_key: &str) {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = gates
            .get(session_key)
            .is_some_and(|gate| gate.strong_count() == 0);
        if idle {
            gates.remove(session_key);
        }
    }
}
