//! The index: pieces of files in SQLite, and nothing that is not in the files too.

mod schema;

use crate::search::{FindError, Finder, Found, Piece, Source, Within};
use rusqlite::{Connection, Row, params};

/// Pieces of files, to be searched.
#[derive(Debug)]
pub struct Index {
    db: Connection,
}

/// A file as it is put into the index.
#[derive(Debug, Clone, Copy)]
pub struct IndexedFile<'a> {
    /// Where it is from.
    pub source: Source,
    /// Its path, relative to the workspace, with `/`.
    pub path: &'a str,
    /// When it was last changed, in milliseconds.
    pub modified_ms: i64,
}

/// A piece as it is put into the index.
#[derive(Debug, Clone, Copy)]
pub struct NewPiece<'a> {
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// Its text.
    pub text: &'a str,
}

impl Index {
    /// Makes an index that lives with the process.
    pub fn volatile() -> Result<Self, FindError> {
        let db = Connection::open_in_memory().map_err(|error| told(&error))?;
        db.execute_batch(schema::TABLES)
            .map_err(|error| told(&error))?;
        Ok(Self { db })
    }

    /// Puts a file's pieces into the index, in place of those that it had.
    pub fn put(
        &mut self,
        file: &IndexedFile<'_>,
        pieces: &[NewPiece<'_>],
    ) -> Result<(), FindError> {
        let change = self.db.transaction().map_err(|error| told(&error))?;
        {
            let mut insert = change
                .prepare_cached(
                    "INSERT INTO pieces (path, source, start_line, end_line, text, modified_ms) VALUES (?, ?, ?, ?, ?, ?)",
                )
                .map_err(|error| told(&error))?;
            let mut words = change
                .prepare_cached("INSERT INTO words (rowid, text) VALUES (?, ?)")
                .map_err(|error| told(&error))?;
            for piece in pieces {
                insert
                    .execute(params![
                        file.path,
                        file.source.name(),
                        piece.start_line,
                        piece.end_line,
                        piece.text,
                        file.modified_ms
                    ])
                    .map_err(|error| told(&error))?;
                words
                    .execute(params![change.last_insert_rowid(), piece.text])
                    .map_err(|error| told(&error))?;
            }
        }
        change.commit().map_err(|error| told(&error))
    }
}

impl Finder for Index {
    fn words(
        &self,
        expression: &str,
        limit: usize,
        _within: &Within,
    ) -> Result<Vec<Found>, FindError> {
        let mut ask = self
            .db
            .prepare_cached(
                "SELECT p.id, p.source, p.path, p.start_line, p.end_line, p.text, p.modified_ms, w.rank \
                 FROM words w JOIN pieces p ON p.id = w.rowid WHERE words MATCH ? ORDER BY w.rank LIMIT ?",
            )
            .map_err(|error| told(&error))?;
        let found = ask
            .query_map(
                params![expression, i64::try_from(limit).unwrap_or(i64::MAX)],
                found,
            )
            .map_err(|error| told(&error))?;
        found
            .collect::<Result<_, _>>()
            .map_err(|error| told(&error))
    }

    fn near(
        &self,
        _vector: &[f32],
        _limit: usize,
        _within: &Within,
    ) -> Result<Vec<Found>, FindError> {
        Ok(Vec::new())
    }

    fn paths(
        &self,
        _words: &[String],
        _limit: usize,
        _within: &Within,
    ) -> Result<Vec<Found>, FindError> {
        Ok(Vec::new())
    }

    fn files(&self, _within: &Within) -> Result<Vec<String>, FindError> {
        let mut ask = self
            .db
            .prepare_cached("SELECT DISTINCT path FROM pieces ORDER BY path")
            .map_err(|error| told(&error))?;
        ask.query_map([], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| told(&error))
    }

    fn openings(&self, paths: &[&str], _within: &Within) -> Result<Vec<Piece>, FindError> {
        let mut ask = self
            .db
            .prepare_cached(
                "SELECT id, source, path, start_line, end_line, text, modified_ms, 0.0 FROM pieces \
                 WHERE path = ? ORDER BY start_line, id LIMIT 1",
            )
            .map_err(|error| told(&error))?;
        let mut pieces = Vec::with_capacity(paths.len());
        for path in paths {
            let mut rows = ask
                .query_map([path], found)
                .map_err(|error| told(&error))?;
            if let Some(found) = rows.next() {
                pieces.push(found.map_err(|error| told(&error))?.piece);
            }
        }
        Ok(pieces)
    }
}

fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        piece: Piece {
            id: row.get(0)?,
            source: Source::of_name(&row.get::<_, String>(1)?).unwrap_or(Source::Memory),
            path: row.get(2)?,
            start_line: row.get(3)?,
            end_line: row.get(4)?,
            text: row.get(5)?,
            modified_ms: row.get(6)?,
        },
        strength: row.get(7)?,
    })
}

fn told(error: &rusqlite::Error) -> FindError {
    FindError(error.to_string())
}
