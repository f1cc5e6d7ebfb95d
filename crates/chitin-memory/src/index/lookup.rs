//! Looking pieces up.

use super::Index;
use super::trouble::Trouble;
use crate::search::{ChunkSource, FindError, Finder, FoundChunk, MemoryChunk, Within};
use crate::vector::Compact;
use rusqlite::{Connection, Row, params};
use std::collections::HashSet;
use std::sync::PoisonError;

/// How many pieces one question may give.
const MAX_FOUND: usize = 10_000;

/// The piece that a row describes; what it stands in comes after, and how well it fits.
const PIECE: &str = "p.id, f.source, f.path, p.start_line, p.end_line, p.text, f.modified_ms";
/// Lets pass what is within: a source, or all; and no file of a list.
const WITHIN: &str = "(?1 IS NULL OR f.source = ?1) \
    AND (?2 IS NULL OR f.path NOT IN (SELECT value FROM json_each(?2)))";

impl Finder for Index {
    fn words(
        &self,
        expression: &str,
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError> {
        // No word asks for nothing; FTS5 would call it an error.
        if expression.trim().is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter::new(within);
        self.guarded(|db| {
            let narrowed = self.narrowed(db, expression)?;
            // The latest of all are not the latest of some.
            let from = if filter.is_open() {
                narrowed.from
            } else {
                i64::MIN
            };
            // Words come first, in the order of their rank: only what is given is joined.
            let mut ask = db.prepare_cached(&format!(
                "SELECT {PIECE}, w.rank FROM words w CROSS JOIN pieces p ON p.id = w.rowid \
                 CROSS JOIN files f ON f.id = p.file \
                 WHERE words MATCH ?3 AND w.rowid >= ?5 AND {WITHIN} ORDER BY w.rank LIMIT ?4"
            ))?;
            let rows = ask.query_map(
                params![
                    filter.source,
                    filter.without,
                    narrowed.expression,
                    limit.min(MAX_FOUND),
                    from
                ],
                |row| {
                    Ok(FoundChunk {
                        piece: piece(row)?,
                        strength: row.get(7)?,
                    })
                },
            )?;
            rows.collect::<Result<_, _>>()
                .map_err(|error| Trouble::of_expression(error, db))
        })
    }

    fn near(
        &self,
        vector: &[f32],
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError> {
        let Some(query) = Compact::new(vector) else {
            return Ok(Vec::new());
        };
        let filter = Filter::new(within);
        self.guarded(|db| {
            let files = filter.files(db)?;
            let allowed = |file| files.as_ref().is_none_or(|files| files.contains(&file));
            let mut nearest = self.nearest.lock().unwrap_or_else(PoisonError::into_inner);
            let found = nearest.ask(db, &query, limit.min(MAX_FOUND), &allowed)?;
            let mut ask = db.prepare_cached(&format!(
                "SELECT {PIECE} FROM pieces p JOIN files f ON f.id = p.file WHERE p.id = ?"
            ))?;
            let mut pieces = Vec::with_capacity(found.len());
            for (id, cosine) in found {
                let mut rows = ask.query([id])?;
                // Another process may have taken it out a moment ago.
                if let Some(row) = rows.next()? {
                    pieces.push(FoundChunk {
                        piece: piece(row)?,
                        strength: f64::from(cosine),
                    });
                }
            }
            Ok(pieces)
        })
    }

    fn paths(
        &self,
        words: &[String],
        limit: usize,
        within: &Within,
    ) -> Result<Vec<FoundChunk>, FindError> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter::new(within);
        let limit = limit.min(MAX_FOUND);
        self.guarded(|db| {
            let mut files = db.prepare_cached(&format!(
                "SELECT f.id, f.path FROM files f WHERE {WITHIN} ORDER BY f.path, f.source"
            ))?;
            let mut pieces = db.prepare_cached(&format!(
                "SELECT {PIECE} FROM pieces p JOIN files f ON f.id = p.file \
                 WHERE p.file = ? ORDER BY p.start_line, p.id LIMIT ?"
            ))?;
            let mut found = Vec::new();
            let mut rows = files.query(params![filter.source, filter.without])?;
            while let Some(row) = rows.next()? {
                if found.len() >= limit {
                    break;
                }
                let path: String = row.get(1)?;
                let path = path.to_lowercase();
                if !words.iter().all(|word| path.contains(word.as_str())) {
                    continue;
                }
                let of_file = pieces.query_map(
                    params![row.get::<_, i64>(0)?, limit - found.len()],
                    |row| {
                        Ok(FoundChunk {
                            piece: piece(row)?,
                            strength: 0.0,
                        })
                    },
                )?;
                for piece in of_file {
                    found.push(piece?);
                }
            }
            Ok(found)
        })
    }

    fn frequencies(&self, words: &[String]) -> Result<Vec<usize>, FindError> {
        Self::frequencies(self, words)
    }

    fn files(&self, within: &Within) -> Result<Vec<String>, FindError> {
        let filter = Filter::new(within);
        self.guarded(|db| {
            let mut ask = db.prepare_cached(&format!(
                "SELECT DISTINCT f.path FROM files f WHERE {WITHIN} \
                 AND EXISTS (SELECT 1 FROM pieces p WHERE p.file = f.id) ORDER BY f.path"
            ))?;
            let rows = ask.query_map(params![filter.source, filter.without], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn openings(&self, paths: &[&str], within: &Within) -> Result<Vec<MemoryChunk>, FindError> {
        let filter = Filter::new(within);
        self.guarded(|db| {
            let mut ask = db.prepare_cached(&format!(
                "SELECT {PIECE} FROM files f CROSS JOIN pieces p ON p.file = f.id \
                 WHERE f.path = ?3 AND {WITHIN} ORDER BY p.start_line, p.id LIMIT 1"
            ))?;
            let mut openings = Vec::with_capacity(paths.len());
            for path in paths {
                let mut rows = ask.query(params![filter.source, filter.without, path])?;
                if let Some(row) = rows.next()? {
                    openings.push(piece(row)?);
                }
            }
            Ok(openings)
        })
    }

    fn size(&self) -> Result<usize, FindError> {
        self.guarded(|db| Ok(super::state::State::read(db)?.pieces))
    }
}

/// Where to look, as SQL takes it.
struct Filter {
    source: Option<&'static str>,
    without: Option<String>,
}

impl Filter {
    fn new(within: &Within) -> Self {
        let mut sources = within.sources.iter();
        let source = match (sources.next(), sources.next()) {
            (Some(only), None) => Some(only.name()),
            // None is all, and so is each of them.
            (None, _) | (Some(_), Some(_)) => None,
        };
        let without = &within.without;
        Self {
            source,
            without: (!without.is_empty()).then(|| serde_json::json!(without).to_string()),
        }
    }

    /// Tells whether everything is within.
    const fn is_open(&self) -> bool {
        self.source.is_none() && self.without.is_none()
    }

    /// Returns the files that are within; nothing if that is all of them.
    fn files(&self, db: &Connection) -> Result<Option<HashSet<i64>>, Trouble> {
        if self.is_open() {
            return Ok(None);
        }
        let mut ask = db.prepare_cached(&format!("SELECT f.id FROM files f WHERE {WITHIN}"))?;
        let rows = ask.query_map(params![self.source, self.without], |row| row.get(0))?;
        Ok(Some(rows.collect::<Result<_, _>>()?))
    }
}

fn piece(row: &Row<'_>) -> rusqlite::Result<MemoryChunk> {
    let source = row.get_ref(1)?.as_str()?;
    Ok(MemoryChunk {
        id: row.get(0)?,
        source: ChunkSource::of_name(source).unwrap_or(ChunkSource::Memory),
        path: row.get(2)?,
        start_line: row.get(3)?,
        end_line: row.get(4)?,
        text: row.get(5)?,
        modified_ms: row.get(6)?,
    })
}
