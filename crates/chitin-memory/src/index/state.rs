//! The one row of numbers that changes with every change.

use super::trouble::Trouble;
use rusqlite::Connection;

/// Counters of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Goes up with every change.
    pub(super) generation: i64,
    /// Goes up with every change that takes pieces out.
    pub(super) removals: i64,
    /// What the next piece goes by, or the next vector. Never used twice.
    pub(super) next_id: i64,
    /// How many pieces there are.
    pub(super) pieces: usize,
    /// For how many pieces it is known what their vector is, be it none.
    pub(super) answered: usize,
}

impl State {
    pub(super) fn read(db: &Connection) -> Result<Self, Trouble> {
        let mut ask = db.prepare_cached(
            "SELECT generation, removals, next_id, pieces, answered FROM state WHERE id = 1",
        )?;
        Ok(ask.query_row([], |row| {
            Ok(Self {
                generation: row.get(0)?,
                removals: row.get(1)?,
                next_id: row.get(2)?,
                pieces: row.get(3)?,
                answered: row.get(4)?,
            })
        })?)
    }

    /// Writes it as the next generation.
    pub(super) fn write(&mut self, db: &Connection) -> Result<(), Trouble> {
        self.generation += 1;
        let mut change = db.prepare_cached(
            "UPDATE state SET generation = ?, removals = ?, next_id = ?, pieces = ?, answered = ? WHERE id = 1",
        )?;
        change.execute(rusqlite::params![
            self.generation,
            self.removals,
            self.next_id,
            self.pieces,
            self.answered
        ])?;
        Ok(())
    }

    /// Returns an id that nothing had before.
    pub(super) const fn new_id(&mut self) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}
