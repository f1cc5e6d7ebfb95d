//! The vectors of an index in memory, kept as the index is.

use super::state::State;
use super::trouble::Trouble;
use crate::vector::{Compact, Scan, VectorIndex};
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;

/// Vectors of an index, loaded when they are asked for the first time.
#[derive(Default)]
pub(super) struct Nearest {
    loaded: Option<Loaded>,
}

struct Loaded {
    generation: i64,
    removals: i64,
    last_stamp: i64,
    vectors: Box<dyn VectorIndex>,
}

impl Nearest {
    /// Returns ids and cosines of the nearest pieces whose file is allowed.
    pub(super) fn ask(
        &mut self,
        db: &Connection,
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
    ) -> Result<Vec<(i64, f32)>, Trouble> {
        let state = State::read(db)?;
        let loaded = match &mut self.loaded {
            Some(loaded) => loaded,
            None => self.loaded.insert(Loaded::new(db, &state)?),
        };
        loaded.refresh(db, &state)?;
        let mut trouble = None;
        let found = loaded.vectors.nearest(query, limit, allowed, &mut |piece| {
            vector_of(db, piece).unwrap_or_else(|met| {
                trouble = Some(met);
                None
            })
        });
        trouble.map_or(Ok(found), Err)
    }
}

impl Loaded {
    fn new(db: &Connection, state: &State) -> Result<Self, Trouble> {
        let first: Option<usize> = db
            .prepare_cached("SELECT length(data) FROM vectors WHERE data IS NOT NULL LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        let mut vectors = Scan::default();
        if let Some(dimensions) = first {
            vectors.expect(state.answered, dimensions);
        }
        Ok(Self {
            generation: -1,
            removals: state.removals,
            last_stamp: 0,
            vectors: Box::new(vectors),
        })
    }

    /// Takes in what changed since.
    fn refresh(&mut self, db: &Connection, state: &State) -> Result<(), Trouble> {
        if self.generation == state.generation {
            return Ok(());
        }
        if self.removals != state.removals {
            let mut ask = db.prepare_cached("SELECT piece FROM vectors ORDER BY piece")?;
            let rows = ask.query_map([], |row| row.get(0))?;
            let kept: HashSet<i64> = rows.collect::<Result<_, _>>()?;
            self.vectors.retain(&|id| kept.contains(&id));
        }
        let mut ask = db.prepare_cached(
            "SELECT v.stamp, v.piece, p.file, v.data FROM vectors v JOIN pieces p ON p.id = v.piece \
             WHERE v.stamp > ? AND v.data IS NOT NULL ORDER BY v.stamp",
        )?;
        let mut rows = ask.query([self.last_stamp])?;
        while let Some(row) = rows.next()? {
            let data = row.get_ref(3)?.as_blob().map_err(|_| Trouble::Damaged)?;
            let vector = Compact::of_bytes(data).ok_or(Trouble::Damaged)?;
            self.vectors.put(row.get(1)?, row.get(2)?, &vector);
            self.last_stamp = row.get(0)?;
        }
        (self.generation, self.removals) = (state.generation, state.removals);
        Ok(())
    }
}

fn vector_of(db: &Connection, piece: i64) -> Result<Option<Compact>, Trouble> {
    let data: Option<Vec<u8>> = db
        .prepare_cached("SELECT data FROM vectors WHERE piece = ? AND data IS NOT NULL")?
        .query_row([piece], |row| row.get(0))
        .optional()?;
    Ok(data.and_then(|data| Compact::of_bytes(&data)))
}
