//! Databases of a home, opened so that nothing in the home changes.
//!
//! A database with a log beside it (`-wal`) is read in place only where its index (`-shm`) is there too, and that index is only read; where it is
//! not, SQLite would make one, so a private copy is read instead (H102, H103). Without a log nothing is created either way.

mod copy;
mod query;
mod schema;

pub(crate) use query::{Cell, Row, Rows};
pub(crate) use schema::SchemaRole;

use crate::problem::{HomeProblem, sentence};
use crate::walk::reading;
use chitin_guard::{Fingerprint, Root};
use copy::PrivateCopy;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest database that is opened.
const MAX_BYTES: u64 = 64 << 30;
/// The largest value that is taken out of a database.
pub(crate) const MAX_VALUE_BYTES: usize = 32 << 20;
/// How long to wait for the owner of a database.
const PATIENCE: Duration = Duration::from_secs(2);
/// After how many steps of SQLite's machine a look is taken at how many there were.
const STEPS: i32 = 1_000_000;
/// How many such looks one statement may last: many minutes on any machine.
const MAX_LOOKS: u32 = 200_000;

/// A database of a home.
#[derive(Debug)]
pub(crate) struct Database {
    // Closed before the copy is removed.
    db: Connection,
    _copy: Option<PrivateCopy>,
    /// The file that is read although its owner may begin to write to it.
    still: Option<(PathBuf, Fingerprint)>,
    /// The file in the home, as problems name it.
    place: String,
}

/// Where a database lies.
pub(crate) struct DatabasePlace<'a> {
    /// A directory that is open.
    pub root: &'a Root,
    /// The file beneath it.
    pub file: &'a Path,
    /// How problems name it.
    pub name: String,
}

impl DatabasePlace<'_> {
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(self.file);
        name.push(ending);
        PathBuf::from(name)
    }

    /// Returns how large a file beside the database is; nothing if there is none.
    fn size_beside(&self, ending: &str) -> Option<u64> {
        let found = self
            .root
            .open_reader(&self.beside(ending), &reading(MAX_BYTES));
        found.ok().map(|reader| reader.fingerprint.size)
    }
}

impl Database {
    /// Opens a database; nothing if there is none. Copies, where one is needed, are made in `scratch`.
    pub(crate) fn open(
        place: &DatabasePlace<'_>,
        scratch: &Path,
    ) -> Result<Option<Self>, HomeProblem> {
        let reader = match place.root.open_reader(place.file, &reading(MAX_BYTES)) {
            Ok(reader) => reader,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(HomeProblem::new(&place.name, sentence(&error))),
        };
        let file = match reader.linked_to.clone() {
            Some(file) => file,
            None => place.root.real_path().join(place.file),
        };
        let fingerprint = reader.fingerprint;
        // Closing a descriptor of a file drops the locks on it that this process holds; none are held yet.
        drop(reader);
        let has_log = place.size_beside("-wal").is_some_and(|bytes| bytes > 0);
        let has_index = place.size_beside("-shm").is_some();
        // As root, SQLite gives log and index to the owner of the database anew, which sets the times of both.
        let is_root = rustix::process::geteuid().is_root();
        let direct = match (has_log, has_index && !is_root) {
            (true, false) => None,
            (true, true) => Some(Way::Live),
            (false, _) => Some(Way::Still(fingerprint)),
        };
        if let Some(way) = direct
            && let Ok(db) = connect(&file, way)
        {
            let still = match way {
                Way::Still(before) => Some((file, before)),
                Way::Live | Way::Copy => None,
            };
            return Ok(Some(Self {
                db,
                _copy: None,
                still,
                place: place.name.clone(),
            }));
        }
        let copy = PrivateCopy::make(place, scratch)
            .map_err(|message| HomeProblem::new(&place.name, message))?;
        let db = connect(&copy.file(), Way::Copy).map_err(|error| broken(&place.name, &error))?;
        Ok(Some(Self {
            db,
            _copy: Some(copy),
            still: None,
            place: place.name.clone(),
        }))
    }

    /// How problems name this database.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Says whether somebody wrote to the database while it was read without locks.
    pub(crate) fn changed(&self) -> Option<HomeProblem> {
        let (file, before) = self.still.as_ref()?;
        (Fingerprint::of_path(file) != Some(*before)).then(|| {
            HomeProblem::new(&self.place, "It changed while it was read.").hint("read it again")
        })
    }

    fn problem(&self, table: &str, error: &rusqlite::Error) -> HomeProblem {
        broken(&format!("{} {table}", self.place), error)
    }
}

/// How a database file is opened.
#[derive(Clone, Copy)]
enum Way {
    /// Its owner may be at work: a reader among others, which changes no file.
    Live,
    /// Nothing is pending, and while the file stays the same nobody works on it.
    Still(Fingerprint),
    /// A copy of ours.
    Copy,
}

fn connect(file: &Path, way: Way) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    escape(file.as_os_str(), &mut uri);
    let access = match way {
        Way::Live => {
            uri.push_str("?mode=ro&readonly_shm=1");
            OpenFlags::SQLITE_OPEN_READ_ONLY
        }
        Way::Still(_) => {
            uri.push_str("?mode=ro&immutable=1");
            OpenFlags::SQLITE_OPEN_READ_ONLY
        }
        Way::Copy => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = access
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(uri, flags)?;
    settle(&mut db)?;
    // The first read takes the locks and finds out whether this is a database at all.
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| {
        row.get::<_, i64>(0)
    })?;
    match way {
        Way::Still(before) if Fingerprint::of_path(file) != Some(before) => {
            // Somebody began to write meanwhile: a consistent copy is needed.
            Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                None,
            ))
        }
        Way::Still(_) | Way::Live | Way::Copy => Ok(db),
    }
}

/// Nothing that a schema can say runs, and no value may fill the memory.
fn settle(db: &mut Connection) -> rusqlite::Result<()> {
    db.busy_timeout(PATIENCE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "query_only", true)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update(None, "mmap_size", 0)?;
    db.pragma_update(None, "cache_size", -4096)?;
    let most = i32::try_from(2 * MAX_VALUE_BYTES).unwrap_or(i32::MAX);
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, most)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let mut looks = 0;
    let too_long = move || {
        looks += 1;
        looks > MAX_LOOKS
    };
    db.progress_handler(STEPS, Some(too_long))
}

/// Says what SQLite's errors mean for somebody who only wants to read.
fn broken(place: &str, error: &rusqlite::Error) -> HomeProblem {
    let code = error.sqlite_error_code();
    let message = match code {
        Some(ErrorCode::NotADatabase) => "It is no SQLite database, or it is encrypted.".to_owned(),
        Some(ErrorCode::DatabaseCorrupt) => format!("It is damaged ({error})."),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "Another program keeps it for itself.".to_owned()
        }
        Some(ErrorCode::OperationInterrupted) => {
            "Reading it takes longer than a database of this kind can.".to_owned()
        }
        Some(_) | None => sentence(error),
    };
    let problem = HomeProblem::new(place, message);
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            problem.hint("stop OpenClaw, or try again")
        }
        _ => problem,
    }
}

/// Writes a path as part of a URI.
fn escape(path: &OsStr, uri: &mut String) {
    for byte in path.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
}
