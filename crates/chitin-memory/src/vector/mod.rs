//! Vectors, and which of them are nearest.
//!
//! A vector is kept as one signed byte per number ([`Compact`]). [`Scan`] looks at all of them, in memory and in order, which is
//! quick for a hundred thousand; where that would take too much memory it keeps one bit per number and asks for the bytes of
//! the most promising ones.

mod compact;
mod scan;
#[cfg(feature = "sqlite-vec")]
mod sqlite_vec;

pub use compact::Compact;
pub use scan::Scan;
#[cfg(feature = "sqlite-vec")]
pub use sqlite_vec::SqliteVec;

/// Keeps vectors and finds the nearest. Implemented by [`Scan`] and, with the feature `sqlite-vec`, by an extension of SQLite.
///
/// An implementor promises: only ids that were put and not taken out are found, each at most once, the nearest first, equal
/// ones by id; and a vector of another length than the first one is neither kept nor found.
pub trait VectorIndex: Send {
    /// Keeps a vector under an id that is not in use yet. Tells whether it was kept.
    fn put(&mut self, id: i64, group: i64, vector: &Compact) -> bool;

    /// Takes out all ids that are not to be kept.
    fn retain(&mut self, keep: &dyn Fn(i64) -> bool);

    /// Returns how many vectors there are.
    fn len(&self) -> usize;

    /// Tells whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns ids and cosines of the nearest vectors whose group is allowed. `exact` gives the vector of an id, for those who
    /// keep less than all of it.
    fn nearest(
        &self,
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
        exact: &mut dyn FnMut(i64) -> Option<Compact>,
    ) -> Vec<(i64, f32)>;
}
