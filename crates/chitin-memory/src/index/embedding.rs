//! Vectors for pieces that have none yet.

use super::prepared::Hash;
use super::state::State;
use super::trouble::Trouble;
use crate::embed::{Embedder, Purpose};
use crate::vector::Compact;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

/// How many pieces are looked at in one step.
const STEP: usize = 512;
/// How many bytes of earlier vectors are kept.
const CACHE_BYTES: usize = 64 << 20;
/// After how many failures it is enough for this time.
const MAX_FAILURES: usize = 3;

/// Gives vectors to pieces, step by step. The index is not locked while vectors are made.
pub(super) struct Embedding<'a> {
    db: &'a mut Connection,
    embedder: &'a dyn Embedder,
    state: State,
    last: i64,
    failures: usize,
    dimensions: Option<usize>,
    /// Pieces whose vector was made.
    pub(super) embedded: usize,
    /// Pieces whose vector was there.
    pub(super) cached: usize,
    /// Pieces that stay without.
    pub(super) failed: usize,
    /// Why.
    pub(super) failure: Option<String>,
}

struct Piece {
    id: i64,
    hash: Hash,
    text: String,
}

/// What is known of the vector of a piece: it, or that there is none.
type Answer = Option<Compact>;

impl<'a> Embedding<'a> {
    pub(super) fn new(db: &'a mut Connection, embedder: &'a dyn Embedder) -> Result<Self, Trouble> {
        let state = State::read(db)?;
        let first = db
            .prepare_cached("SELECT length(data) FROM vectors WHERE data IS NOT NULL LIMIT 1")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(Self {
            db,
            embedder,
            state,
            last: 0,
            failures: 0,
            dimensions: first.or(embedder.dimensions()),
            embedded: 0,
            cached: 0,
            failed: 0,
            failure: None,
        })
    }

    /// Returns how many pieces have no vector yet.
    pub(super) const fn missing(&self) -> usize {
        self.state.pieces.saturating_sub(self.state.answered)
    }

    /// Gives vectors to some pieces. Tells whether there may be more to do.
    pub(super) fn step(&mut self) -> Result<bool, Trouble> {
        if self.missing() == 0 || self.failures >= MAX_FAILURES {
            return self.finish().map(|()| false);
        }
        let pieces = self.next_pieces()?;
        let Some(last) = pieces.last() else {
            return self.finish().map(|()| false);
        };
        self.last = last.id;
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for piece in &pieces {
            match self.earlier(&piece.hash)? {
                Some(vector) => known.push((piece, Some(vector))),
                None => unknown.push(piece),
            }
        }
        let found = known.len();
        let made = self.make(&unknown);
        let written = self.write(&known, &made)?;
        self.cached += found;
        self.embedded += written.saturating_sub(found);
        Ok(true)
    }

    fn next_pieces(&self) -> Result<Vec<Piece>, Trouble> {
        let mut ask = self.db.prepare_cached(
            "SELECT id, hash, text FROM pieces WHERE id > ? \
             AND NOT EXISTS (SELECT 1 FROM vectors WHERE piece = pieces.id) ORDER BY id LIMIT ?",
        )?;
        let rows = ask.query_map(params![self.last, STEP], |row| {
            Ok(Piece {
                id: row.get(0)?,
                hash: row.get(1)?,
                text: row.get(2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns a vector that was made earlier of the same text.
    fn earlier(&self, hash: &Hash) -> Result<Option<Compact>, Trouble> {
        let data: Option<Vec<u8>> = self
            .db
            .prepare_cached("SELECT data FROM embeddings WHERE embedder = ? AND hash = ?")?
            .query_row(params![self.embedder.name(), hash], |row| row.get(0))
            .optional()?;
        Ok(data
            .and_then(|data| Compact::of_bytes(&data))
            .filter(|vector| self.fits(vector)))
    }

    fn fits(&self, vector: &Compact) -> bool {
        let length = vector.numbers().len();
        self.dimensions.is_none_or(|expected| expected == length)
    }

    /// Asks the embedder. What it fails at is left out and counted.
    fn make<'p>(&mut self, pieces: &[&'p Piece]) -> Vec<(&'p Piece, Answer)> {
        let mut made = Vec::with_capacity(pieces.len());
        for group in pieces.chunks(self.embedder.batch().clamp(1, STEP)) {
            if self.failures >= MAX_FAILURES {
                break;
            }
            let texts: Vec<&str> = group.iter().map(|piece| piece.text.as_str()).collect();
            match self.embedder.embed(&texts, Purpose::Document) {
                Ok(vectors) if vectors.len() == group.len() => {
                    for (piece, vector) in group.iter().zip(vectors) {
                        self.take(piece, &vector, &mut made);
                    }
                }
                Ok(vectors) => self.fail(
                    group.len(),
                    format!("{} texts gave {} vectors.", group.len(), vectors.len()),
                ),
                Err(error) => {
                    if error.passing {
                        // The next one would fail too; there is a next time.
                        self.failures = MAX_FAILURES;
                    }
                    self.fail(group.len(), error.message);
                }
            }
        }
        made
    }

    fn take<'p>(&mut self, piece: &'p Piece, vector: &[f32], made: &mut Vec<(&'p Piece, Answer)>) {
        let compact = Compact::new(vector);
        if let Some(compact) = &compact {
            self.dimensions.get_or_insert(compact.numbers().len());
            if !self.fits(compact) {
                let message = format!(
                    "a vector has {} numbers, others have {}.",
                    vector.len(),
                    self.dimensions.unwrap_or_default()
                );
                return self.fail(1, message);
            }
        }
        made.push((piece, compact));
    }

    fn fail(&mut self, pieces: usize, message: String) {
        self.failures += 1;
        self.failed += pieces;
        self.failure.get_or_insert(message);
    }

    /// Keeps vectors of pieces that are still there. Returns how many.
    fn write(
        &mut self,
        known: &[(&Piece, Answer)],
        made: &[(&Piece, Answer)],
    ) -> Result<usize, Trouble> {
        let change = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut state = State::read(&change)?;
        let mut written = 0;
        {
            let mut insert = change.prepare_cached(
                "INSERT INTO vectors (stamp, piece, data) SELECT ?1, ?2, ?3 \
                 WHERE EXISTS (SELECT 1 FROM pieces WHERE id = ?2) ON CONFLICT DO NOTHING",
            )?;
            for (piece, answer) in known.iter().chain(made) {
                let data = answer.as_ref().map(Compact::bytes);
                written += insert.execute(params![state.new_id(), piece.id, data])?;
            }
            let mut keep = change.prepare_cached(
                "INSERT INTO embeddings (embedder, hash, used, data) VALUES (?, ?, ?, ?) \
                 ON CONFLICT DO UPDATE SET used = excluded.used",
            )?;
            for (piece, answer) in known.iter().chain(made) {
                if let Some(vector) = answer {
                    keep.execute(params![
                        self.embedder.name(),
                        piece.hash,
                        state.generation,
                        vector.bytes()
                    ])?;
                }
            }
        }
        state.answered += written;
        state.write(&change)?;
        change.commit()?;
        self.state = state;
        Ok(written)
    }

    /// Lets go of vectors that were not used for the longest time, if there are too many.
    fn finish(&mut self) -> Result<(), Trouble> {
        if self.embedded == 0 {
            return Ok(());
        }
        let room = CACHE_BYTES / self.dimensions.unwrap_or(1).max(1);
        self.db.execute(
            "DELETE FROM embeddings WHERE id IN (SELECT id FROM embeddings ORDER BY used, id \
             LIMIT max(0, (SELECT count(*) FROM embeddings) - ?))",
            [room],
        )?;
        Ok(())
    }
}
