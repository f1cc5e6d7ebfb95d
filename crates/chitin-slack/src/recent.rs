//! What is remembered for a while: so many things and no more, the oldest go first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// A memory of bounded size.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    kept: Mutex<Kept<V>>,
}

#[derive(Debug)]
struct Kept<V> {
    values: HashMap<String, V>,
    order: VecDeque<String>,
}

impl<V: Clone> Recent<V> {
    /// Makes a memory for so many things.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            kept: Mutex::new(Kept {
                values: HashMap::new(),
                order: VecDeque::new(),
            }),
        }
    }

    /// Returns what is remembered under a name.
    pub(crate) fn get(&self, name: &str) -> Option<V> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values.get(name).cloned()
    }

    /// Remembers something; what was under that name goes.
    pub(crate) fn put(&self, name: impl Into<String>, value: V) {
        let name = name.into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.values.insert(name.clone(), value).is_none() {
            kept.order.push_back(name);
        }
        while kept.order.len() > self.most {
            if let Some(oldest) = kept.order.pop_front() {
                kept.values.remove(&oldest);
            }
        }
    }

    /// Tells whether a name is remembered.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.values.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::Recent;

    #[test]
    fn the_oldest_goes_first_and_a_new_value_takes_no_more_room() {
        let recent = Recent::new(2);
        recent.put("a", 1);
        recent.put("b", 2);
        recent.put("b", 3);
        assert_eq!((recent.get("a"), recent.get("b")), (Some(1), Some(3)));
        recent.put("c", 4);
        assert_eq!((recent.get("a"), recent.get("c")), (None, Some(4)));
        assert!(recent.knows("b") && !recent.knows("a"));
    }
}
