//! Reading sessions without holding more of them than is asked for, however long they are.

use super::conversation::{COMMON_WINDOW, HistoryInputs, reach};
use crate::history::{HistoryMeasure, is_marked};
use crate::origins::origins_of;
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_store::{Branch, BranchMeasure, Passed, SessionStore, StoreError};

/// Reads as much of a session as its next request needs. See [`next_request`](super::next_request).
pub fn read_history(
    store: &dyn SessionStore,
    session_key: &str,
    inputs: &HistoryInputs<'_>,
) -> Result<Branch, StoreError> {
    let window = inputs.window.unwrap_or(COMMON_WINDOW);
    let mut measure = HistoryMeasure::new(reach(inputs.rules, inputs.options, window, None));
    let mut branch = store.read_measured(session_key, &mut measure)?;
    branch.older.splice(..0, measure.end().record());
    Ok(branch)
}

/// Returns the origins of all texts of a session.
pub fn read_origins(
    store: &dyn SessionStore,
    session_key: &str,
) -> Result<Vec<Origin>, StoreError> {
    let mut measure = Each(
        Vec::new(),
        |found: &mut Vec<Origin>, entry: &TranscriptEntry| {
            add_origins(found, &origins_of([entry]));
        },
    );
    let branch = store.read_measured(session_key, &mut measure)?;
    let mut found = origins_of(&branch.entries);
    add_origins(&mut found, &measure.0);
    Ok(found)
}

/// Tells whether a session holds the marker of a turn with the full context. See [`is_marked`].
pub fn read_marker(store: &dyn SessionStore, session_key: &str) -> Result<bool, StoreError> {
    // The newest record that decides it decides it for those before.
    let mut measure = Each(None, |known: &mut Option<bool>, entry: &TranscriptEntry| {
        let decides = matches!(
            &entry.body,
            EntryBody::Compaction(_) | EntryBody::Custom { .. }
        );
        let is_compaction = matches!(&entry.body, EntryBody::Compaction(_));
        let marks = decides && is_marked(std::slice::from_ref(entry));
        if known.is_none() && (is_compaction || marks) {
            *known = Some(marks);
        }
    });
    let branch = store.read_measured(session_key, &mut measure)?;
    let is_decided = |entry: &TranscriptEntry| matches!(&entry.body, EntryBody::Compaction(_));
    Ok(is_marked(&branch.entries)
        || !branch.entries.iter().any(is_decided) && measure.0 == Some(true))
}

/// Shows the records of a session one by one, the last one first, and holds none but the last.
struct Each<T, F>(T, F);

impl<T: Default, F: FnMut(&mut T, &TranscriptEntry)> BranchMeasure for Each<T, F> {
    fn begin(&mut self) {
        self.0 = T::default();
    }

    fn is_enough(&mut self, _: &TranscriptEntry, _: u64) -> bool {
        true
    }

    fn pass(&mut self, entry: &TranscriptEntry) -> Passed {
        (self.1)(&mut self.0, entry);
        Passed::LetGo
    }
}
