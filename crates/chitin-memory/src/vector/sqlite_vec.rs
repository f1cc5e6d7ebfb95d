//! Vectors in the extension `sqlite-vec`.

use super::{Compact, VectorIndex};
use rusqlite::ffi::{sqlite3, sqlite3_api_routines, sqlite3_auto_extension};
use rusqlite::{Connection, params};
use std::ffi::{c_char, c_int};
use std::sync::Once;

/// How many vectors one question to the extension may give.
const MOST: usize = 4096;

/// Vectors in a table of the extension, in memory.
#[derive(Debug)]
pub struct SqliteVec {
    db: Connection,
    dimensions: usize,
    count: usize,
}

impl SqliteVec {
    /// Makes an empty one.
    pub fn new() -> rusqlite::Result<Self> {
        register();
        Ok(Self {
            db: Connection::open_in_memory()?,
            dimensions: 0,
            count: 0,
        })
    }

    fn insert(&mut self, id: i64, group: i64, vector: &Compact) -> rusqlite::Result<()> {
        if self.dimensions == 0 {
            let dimensions = vector.numbers().len();
            self.db.execute_batch(&format!(
                "CREATE VIRTUAL TABLE vectors USING vec0 (id INTEGER PRIMARY KEY, part INTEGER, \
                 place INT8[{dimensions}] distance_metric=cosine);\
                 CREATE TABLE groups (part INTEGER PRIMARY KEY)"
            ))?;
            self.dimensions = dimensions;
        }
        let mut insert = self
            .db
            .prepare_cached("INSERT INTO vectors (id, part, place) VALUES (?, ?, vec_int8(?))")?;
        insert.execute(params![id, group, vector.bytes()])?;
        let mut insert = self
            .db
            .prepare_cached("INSERT OR IGNORE INTO groups VALUES (?)")?;
        insert.execute([group])?;
        Ok(())
    }

    fn ask(
        &self,
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
    ) -> rusqlite::Result<Vec<(i64, f32)>> {
        let mut best: Vec<(i64, f32)> = Vec::new();
        let groups: Vec<i64> = self
            .db
            .prepare_cached("SELECT part FROM groups")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let all = groups.iter().all(|group| allowed(*group));
        // The extension compares a part with one value: each allowed one is asked for, unless all are.
        let asked: Vec<Option<i64>> = if all {
            vec![None]
        } else {
            groups
                .into_iter()
                .filter(|group| allowed(*group))
                .map(Some)
                .collect()
        };
        for group in asked {
            let part = group.map_or("", |_| "AND part = ?3");
            let mut ask = self.db.prepare_cached(&format!(
                "SELECT id, distance FROM vectors WHERE place MATCH vec_int8(?1) AND k = ?2 {part}"
            ))?;
            let found = |row: &rusqlite::Row<'_>| {
                let distance: f32 = row.get(1)?;
                Ok((row.get(0)?, 1.0 - distance))
            };
            match group {
                None => best.extend(
                    ask.query_map(params![query.bytes(), limit], found)?
                        .collect::<Result<Vec<_>, _>>()?,
                ),
                Some(group) => best.extend(
                    ask.query_map(params![query.bytes(), limit, group], found)?
                        .collect::<Result<Vec<_>, _>>()?,
                ),
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(limit);
        Ok(best)
    }

    fn remove_but(&mut self, keep: &dyn Fn(i64) -> bool) -> rusqlite::Result<()> {
        let ids: Vec<i64> = self
            .db
            .prepare_cached("SELECT id FROM vectors")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for id in ids.into_iter().filter(|id| !keep(*id)) {
            self.count -= self
                .db
                .prepare_cached("DELETE FROM vectors WHERE id = ?")?
                .execute([id])?;
        }
        Ok(())
    }
}

impl VectorIndex for SqliteVec {
    fn put(&mut self, id: i64, group: i64, vector: &Compact) -> bool {
        if self.dimensions != 0 && vector.numbers().len() != self.dimensions {
            return false;
        }
        let is_kept = self.insert(id, group, vector).is_ok();
        self.count += usize::from(is_kept);
        is_kept
    }

    fn retain(&mut self, keep: &dyn Fn(i64) -> bool) {
        if self.dimensions != 0 && self.remove_but(keep).is_err() {
            // A table that cannot be changed is not trusted with anything.
            self.count = 0;
            self.dimensions = 0;
        }
    }

    fn len(&self) -> usize {
        self.count
    }

    fn nearest(
        &self,
        query: &Compact,
        limit: usize,
        allowed: &dyn Fn(i64) -> bool,
        _exact: &mut dyn FnMut(i64) -> Option<Compact>,
    ) -> Vec<(i64, f32)> {
        if self.count == 0 || limit == 0 || query.numbers().len() != self.dimensions {
            return Vec::new();
        }
        self.ask(query, limit.min(MOST), allowed)
            .unwrap_or_default()
    }
}

/// What SQLite calls for every database that is opened.
type EntryPoint =
    unsafe extern "C" fn(*mut sqlite3, *mut *mut c_char, *const sqlite3_api_routines) -> c_int;

/// Makes the extension known to every database that is opened from now on.
#[expect(
    unsafe_code,
    reason = "an extension that is linked in is registered by the address of its entry point"
)]
fn register() {
    static ONCE: Once = Once::new();
    // SAFETY: `sqlite3_vec_init` is the entry point of an extension, whose type its crate leaves out; SQLite calls it with
    // the three arguments of every entry point. It lives as long as the process.
    ONCE.call_once(|| unsafe {
        let entry =
            std::mem::transmute::<*const (), EntryPoint>(sqlite_vec::sqlite3_vec_init as *const ());
        sqlite3_auto_extension(Some(entry));
    });
}
