//! Forgetting a conversation: what an index has of it goes from the file, to the last byte.

use super::place;
use super::schema;
use super::state::State;
use super::trouble::Trouble;
use crate::search::{ChunkSource, FindError};
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};
use std::path::Path;
use std::time::Duration;

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the log of the database is tried to be emptied, which nobody may be reading then.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// What was forgotten, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForgottenPieces {
    /// How many pieces of conversations.
    pub pieces: usize,
    /// Whether the whole index was thrown away, because it could not be cleaned. It is made again when it is needed.
    pub discarded: bool,
}

/// Tells how many pieces an index has of conversations, by the beginnings of the names of their transcripts' files. Nothing is changed.
pub fn pieces_of(path: &Path, begins: &[String]) -> Result<usize, FindError> {
    let Some(db) = ours(path)? else {
        return Ok(0);
    };
    let files = files(&db, begins)?;
    let mut pieces = 0;
    for file in files {
        pieces += pieces_in(&db, file)?.len();
    }
    Ok(pieces)
}

/// Forgets conversations in an index, by the beginnings of the names of their transcripts' files. An index that cannot be cleaned is thrown away.
pub fn forget(path: &Path, begins: &[String]) -> Result<ForgottenPieces, FindError> {
    let Some(identity) = place::identity(path) else {
        return Ok(ForgottenPieces::default());
    };
    let cleaned = match ours(path) {
        Ok(Some(db)) => clean(db, begins),
        Ok(None) => return Ok(ForgottenPieces::default()),
        Err(trouble) => Err(trouble),
    };
    if let Ok(pieces) = cleaned {
        Ok(ForgottenPieces {
            pieces,
            discarded: false,
        })
    } else {
        place::discard(path, identity).map_err(FindError)?;
        Ok(ForgottenPieces {
            pieces: 0,
            discarded: true,
        })
    }
}

/// Opens an index; nothing if it is none of ours.
fn ours(path: &Path) -> Result<Option<Connection>, Trouble> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let is_ours = number("application_id")? == schema::APPLICATION
        && number("user_version")? == schema::FORMAT;
    Ok(is_ours.then_some(db))
}

fn clean(mut db: Connection, begins: &[String]) -> Result<usize, Trouble> {
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "secure_delete", true)?;
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut gone = 0;
    let files = files(&change, begins)?;
    let mut state = State::read(&change)?;
    for file in &files {
        for (piece, hash) in pieces_in(&change, *file)? {
            change.execute("DELETE FROM pieces WHERE id = ?", [piece])?;
            change.execute("DELETE FROM words WHERE rowid = ?", [piece])?;
            let answered = change.execute("DELETE FROM vectors WHERE piece = ?", [piece])?;
            // What the same words elsewhere were turned into is asked for again.
            change.execute("DELETE FROM embeddings WHERE hash = ?", params![hash])?;
            state.pieces = state.pieces.saturating_sub(1);
            state.answered = state.answered.saturating_sub(answered);
            gone += 1;
        }
        change.execute("DELETE FROM files WHERE id = ?", [file])?;
    }
    if !files.is_empty() {
        state.removals += 1;
        state.write(&change)?;
    }
    // Words of what was removed, now or earlier, stand in the segments until these are merged.
    change.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
    change.commit()?;
    // What was removed earlier may still stand in pages that nobody uses, so all of it is written anew.
    db.execute_batch("VACUUM")?;
    for _ in 0..ATTEMPTS {
        let busy: i64 = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(gone);
        }
        std::thread::sleep(PAUSE);
    }
    Err(Trouble::Busy)
}

/// Returns the files of the index that are transcripts of these conversations.
fn files(db: &Connection, begins: &[String]) -> Result<Vec<i64>, Trouble> {
    let mut ask = db.prepare("SELECT id, path FROM files WHERE source = ?")?;
    let mut rows = ask.query([ChunkSource::Sessions.name()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let path: String = row.get(1)?;
        let name = path.rsplit('/').next().unwrap_or(&path);
        if begins.iter().any(|begin| name.starts_with(begin.as_str())) {
            found.push(row.get(0)?);
        }
    }
    Ok(found)
}

fn pieces_in(db: &Connection, file: i64) -> Result<Vec<(i64, Vec<u8>)>, Trouble> {
    let mut ask = db.prepare_cached("SELECT id, hash FROM pieces WHERE file = ?")?;
    let mut rows = ask.query([file])?;
    let mut pieces = Vec::new();
    while let Some(row) = rows.next()? {
        pieces.push((row.get(0)?, row.get(1)?));
    }
    Ok(pieces)
}
