//! Where an index lies, and whether what lies there may be used.

use super::notes::{IndexNote, Rebuild};
use super::schema;
use super::shape::Shape;
use super::trouble::Trouble;
use chitin_guard::Root;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use rustix::fs::{Mode, OFlags};
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// How an index is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLimits {
    /// How long to wait for another process.
    pub patience: Duration,
    /// How large the file may become, in bytes.
    pub max_bytes: u64,
    /// How large an index may become that lives in memory, in bytes.
    pub max_memory: u64,
    /// How many pieces it may hold.
    pub max_pieces: usize,
}

impl Default for IndexLimits {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(5),
            max_bytes: 4 << 30,
            max_memory: 64 << 20,
            max_pieces: 200_000,
        }
    }
}

/// Device and inode: which file it is, whatever its name.
pub(super) type Identity = (u64, u64);

const PAGE_BYTES: u64 = 4096;
/// How much of the file SQLite keeps in memory.
const CACHE_KIBIBYTES: i64 = 16 << 10;
/// Up to which size a whole file is checked when it is opened: a few milliseconds.
const CHECKED_BYTES: u64 = 2 << 20;
const ATTEMPTS: usize = 4;
/// How long to wait before another try, where SQLite does not wait by itself.
const RETRY: Duration = Duration::from_millis(5);

/// What stands in a database.
enum Content {
    Ours,
    Nothing,
    OtherShape,
    OtherFormat,
    Foreign,
}

/// Opens the index at a path, and makes it if there is none that can be used. An error says why there can be none.
pub(super) fn open(
    path: &Path,
    shape: &Shape,
    limits: &IndexLimits,
) -> Result<(Connection, Identity, Vec<IndexNote>), String> {
    let mut notes = Vec::new();
    for _ in 0..ATTEMPTS {
        make_file(path)?;
        let identity = identity(path).ok_or("it cannot be made there")?;
        let why = match patiently(limits.patience, || connect(path, shape, limits)) {
            Ok((db, None)) => return Ok((db, identity, notes)),
            Ok((db, Some(note))) => {
                notes.push(note);
                return Ok((db, identity, notes));
            }
            Err(Refused::Discard(why)) => why,
            Err(Refused::Foreign) => {
                return Err("a database of another program lies there".to_owned());
            }
            Err(Refused::Trouble(Trouble::Damaged)) => Rebuild::Damaged,
            Err(Refused::Trouble(Trouble::Busy)) => {
                return Err("another process keeps it for itself".to_owned());
            }
            Err(Refused::Trouble(Trouble::Full)) => return Err("there is no room".to_owned()),
            Err(Refused::Trouble(Trouble::Other(message))) => return Err(message),
        };
        discard(path, identity)?;
        notes.push(IndexNote::Rebuilt(why));
    }
    Err("it was damaged again and again".to_owned())
}

/// Tries again while somebody else is in the way. SQLite waits by itself in most cases, but not where two that both read want to
/// write: then it tells one of them at once.
fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, Refused>,
) -> Result<T, Refused> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Err(Refused::Trouble(Trouble::Busy)) if begin.elapsed() < patience => {
                std::thread::sleep(RETRY);
            }
            outcome => return outcome,
        }
    }
}

/// Opens an index that lives in memory.
pub(super) fn open_in_memory(shape: &Shape, limits: &IndexLimits) -> Result<Connection, Trouble> {
    let db = Connection::open_in_memory()?;
    settle(&db, limits.patience, limits.max_memory)?;
    db.execute_batch(schema::KEPT)?;
    make_tables(&db, shape)?;
    Ok(db)
}

/// Returns which file has this name.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    let stat = rustix::fs::stat(path).ok()?;
    let fingerprint = chitin_guard::Fingerprint::from(&stat);
    Some((fingerprint.dev, fingerprint.ino))
}

enum Refused {
    Discard(Rebuild),
    Foreign,
    Trouble(Trouble),
}

impl<E: Into<Trouble>> From<E> for Refused {
    fn from(error: E) -> Self {
        Self::Trouble(error.into())
    }
}

fn connect(
    path: &Path,
    shape: &Shape,
    limits: &IndexLimits,
) -> Result<(Connection, Option<IndexNote>), Refused> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(limits.patience)?;
    // Looked at before anything is set: a database of another program is left as it is.
    match settled_content(&db, shape)? {
        Content::Foreign => return Err(Refused::Foreign),
        Content::OtherFormat => return Err(Refused::Discard(Rebuild::OtherFormat)),
        Content::Ours | Content::Nothing | Content::OtherShape => {}
    }
    settle(&db, limits.patience, limits.max_bytes)?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    db.pragma_update(None, "synchronous", "normal")?;
    db.pragma_update(None, "journal_size_limit", 16 << 20)?;
    if let Content::Ours = settled_content(&db, shape)? {
        return check_small(&db).map(|()| (db, None));
    }
    // Looked at again with nobody else writing: another process may have been quicker.
    let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let note = match content(&change, shape)? {
        Content::Ours => None,
        Content::Foreign => return Err(Refused::Foreign),
        Content::OtherFormat => return Err(Refused::Discard(Rebuild::OtherFormat)),
        Content::Nothing => {
            change.pragma_update(None, "application_id", schema::APPLICATION)?;
            change.pragma_update(None, "user_version", schema::FORMAT)?;
            change.execute_batch(schema::KEPT)?;
            make_tables(&change, shape)?;
            None
        }
        Content::OtherShape => {
            change.execute_batch(schema::DROPS)?;
            make_tables(&change, shape)?;
            Some(IndexNote::Rebuilt(Rebuild::OtherShape))
        }
    };
    change.commit()?;
    Ok((db, note))
}

fn make_tables(db: &Connection, shape: &Shape) -> Result<(), Trouble> {
    db.execute_batch(schema::TABLES)?;
    db.execute_batch(&schema::words(&shape.rules))?;
    db.execute(
        "INSERT INTO meta (key, value) VALUES ('shape', ?)",
        [shape.written()],
    )?;
    Ok(())
}

/// Returns what stands in a database at one moment: somebody else may be making it just now, and half of that is nobody's.
fn settled_content(db: &Connection, shape: &Shape) -> Result<Content, Trouble> {
    let moment = db.unchecked_transaction()?;
    let content = content(&moment, shape);
    moment.finish()?;
    content
}

fn content(db: &Connection, shape: &Shape) -> Result<Content, Trouble> {
    let number = |name| db.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let application = number("application_id")?;
    if application != schema::APPLICATION {
        let things: i64 =
            db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        return Ok(if application == 0 && things == 0 {
            Content::Nothing
        } else {
            Content::Foreign
        });
    }
    if number("user_version")? != schema::FORMAT {
        return Ok(Content::OtherFormat);
    }
    Ok(if is_of_shape(db, shape)? {
        Content::Ours
    } else {
        Content::OtherShape
    })
}

/// Tells whether an index is of this shape.
pub(super) fn is_of_shape(db: &Connection, shape: &Shape) -> Result<bool, Trouble> {
    let mut ask = db.prepare_cached("SELECT value FROM meta WHERE key = 'shape'")?;
    let kept: String = ask.query_row([], |row| row.get(0))?;
    Ok(kept == shape.written())
}

fn settle(db: &Connection, patience: Duration, max_bytes: u64) -> Result<(), Trouble> {
    db.busy_timeout(patience)?;
    db.set_prepared_statement_cache_capacity(48);
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update(None, "page_size", PAGE_BYTES.cast_signed())?;
    db.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
    db.pragma_update(None, "temp_store", "memory")?;
    let pages = (max_bytes / PAGE_BYTES).clamp(64, u64::from(u32::MAX - 2));
    db.pragma_update_and_check(None, "max_page_count", pages.cast_signed(), |_| Ok(()))?;
    Ok(())
}

/// Checks all of a file that is small enough for that.
fn check_small(db: &Connection) -> Result<(), Refused> {
    let pages: u64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
    if pages * PAGE_BYTES > CHECKED_BYTES {
        return Ok(());
    }
    let said: String = db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if said == "ok" {
        Ok(())
    } else {
        Err(Refused::Discard(Rebuild::Damaged))
    }
}

/// Makes an empty file that nobody else may read, unless there is a file.
///
/// A file that is there is not opened here: closing it would drop the locks that SQLite holds on it in this process.
fn make_file(path: &Path) -> Result<(), String> {
    if identity(path).is_some() {
        return Ok(());
    }
    let parent = path.parent().ok_or("its path is no path of a file")?;
    Root::create_private(parent).map_err(|error| chain(&error))?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(_) | Err(rustix::io::Errno::EXIST) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Deletes an index, if it is still the one that was looked at.
pub(super) fn discard(path: &Path, seen: Identity) -> Result<(), String> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("its path is no path of a file".to_owned());
    };
    if identity(path) != Some(seen) {
        return Ok(());
    }
    let root = Root::open(parent).map_err(|error| chain(&error))?;
    for ending in ["", "-wal", "-shm"] {
        let mut file = OsString::from(name);
        file.push(ending);
        root.remove_file(Path::new(&file))
            .map_err(|error| chain(&error))?;
    }
    Ok(())
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
