//! Which messages came, so that none is heard twice.

use crate::ids::Id;
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// How many messages are remembered.
const MOST_SEEN: usize = 8_192;

/// The messages that were heard lately.
#[derive(Debug, Default)]
pub(crate) struct RecentMessages(Mutex<(HashSet<Id>, VecDeque<Id>)>);

impl RecentMessages {
    /// Remembers a message; tells whether it is new.
    pub(crate) fn is_new(&self, id: Id) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, order) = &mut *seen;
        if !known.insert(id) {
            return false;
        }
        order.push_back(id);
        if order.len() > MOST_SEEN
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
        true
    }
}
