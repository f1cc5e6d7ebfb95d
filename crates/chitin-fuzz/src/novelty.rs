//! What an input led to, in one number: a stand-in for coverage where the compiler gives none.
//!
//! A target notes what it saw (codes, kinds, counts, never texts). The runner keeps an input whose notes are new and
//! changes it further, so it gets deeper than changes of the seeds alone would.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

thread_local! {
    static NOTED: Cell<u64> = const { Cell::new(0) };
}

/// Notes something that tells this run from others.
pub fn note(what: impl Hash) {
    let mut hasher = DefaultHasher::new();
    NOTED.get().hash(&mut hasher);
    what.hash(&mut hasher);
    NOTED.set(hasher.finish());
}

/// Returns the number of everything noted since the last call, and forgets it.
pub fn take() -> u64 {
    NOTED.replace(0)
}
