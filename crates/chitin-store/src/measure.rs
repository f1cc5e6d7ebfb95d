//! How far back a branch is needed, as whoever reads it measures it.

use chitin_protocol::transcript::TranscriptEntry;

/// Measures a branch while it is read, so that no more of a long transcript is held than is needed.
///
/// A branch is read from its last record back to the first one that the last compaction kept, or to the first of all. A measure
/// says from where on the records are held; those before it are shown to it one by one, and let go.
pub trait BranchMeasure {
    /// Begins again: the next record is the last one of the branch.
    fn begin(&mut self);

    /// Looks at the next record, which is held and whose line has so many bytes. Tells whether those before it need not be.
    fn is_enough(&mut self, entry: &TranscriptEntry, bytes: u64) -> bool;

    /// Looks at a record that is before the held ones, and says what becomes of it.
    fn pass(&mut self, entry: &TranscriptEntry) -> Passed;
}

/// What becomes of a record that is before those that are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It is let go.
    LetGo,
    /// It is let go and counted: see [`Branch::counted`](crate::Branch::counted).
    Counted,
    /// It is held all the same: see [`Branch::older`](crate::Branch::older).
    Held,
}
