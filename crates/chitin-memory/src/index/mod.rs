//! The index: pieces of files in SQLite, and nothing that is not in the files too.
//!
//! [`Index::open`] gives an index that can be used, whatever lies on the disk: what is damaged, of another version or of another
//! [`Shape`] is thrown away. [`Index::sync`] makes it say what the files say, and opens only files that changed.
//! Searching is [`Finder`](crate::search::Finder).

mod batch;
mod embedding;
mod forget;
mod frequent;
mod job;
mod lookup;
mod nearest;
mod notes;
mod place;
mod prepared;
mod renew;
mod schema;
mod shape;
mod state;
mod sync;
mod trouble;

pub use forget::{ForgottenPieces, forget, pieces_of};
pub use job::{
    Cut, FileText, JobFile, MAX_FILE_BYTES, NewPiece, SyncJob, SyncProgress, SyncReport, SyncStop,
};
pub use notes::{IndexNote, Rebuild};
pub use place::IndexLimits;
pub use shape::Shape;

use crate::search::{ChunkSource, FindError};
use frequent::Frequencies;
use nearest::Nearest;
use place::Identity;
use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trouble::Trouble;

/// Pieces of files, to be searched. One for each thread: several may have the same file open.
pub struct Index {
    db: Connection,
    place: Option<(PathBuf, Identity)>,
    shape: Shape,
    limits: IndexLimits,
    /// Set when a search met damage, so that the next sync begins anew.
    damaged: AtomicBool,
    nearest: Mutex<Nearest>,
    frequencies: Mutex<Frequencies>,
}

/// An index, and what happened on the way to it.
#[derive(Debug)]
pub struct Opened {
    /// The index.
    pub index: Index,
    /// What a user should know.
    pub notes: Vec<IndexNote>,
}

/// How much there is in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Files.
    pub files: usize,
    /// Pieces of files.
    pub pieces: usize,
    /// Pieces that have a vector.
    pub vectors: usize,
    /// Bytes on the disk, or in memory if it lives there.
    pub bytes: u64,
}

/// A file as it is put into the index.
#[derive(Debug, Clone, Copy)]
pub struct IndexedFile<'a> {
    /// Where it is from.
    pub source: ChunkSource,
    /// Its path, relative to the workspace, with `/`.
    pub path: &'a str,
    /// When it was last changed, in milliseconds.
    pub modified_ms: i64,
}

impl Index {
    /// Opens the index at a path, and makes it if there is none of this shape. If that cannot be, it lives in memory.
    pub fn open(path: &Path, shape: &Shape) -> Result<Opened, FindError> {
        Self::open_with(path, shape, &IndexLimits::default())
    }

    /// Opens the index at a path within these limits.
    pub fn open_with(
        path: &Path,
        shape: &Shape,
        limits: &IndexLimits,
    ) -> Result<Opened, FindError> {
        match place::open(path, shape, limits) {
            Ok((db, identity, notes)) => Ok(Opened {
                index: Self::new(db, Some((path.to_path_buf(), identity)), shape, limits),
                notes,
            }),
            Err(why) => Ok(Opened {
                index: Self::in_memory(shape, limits)?,
                notes: vec![IndexNote::InMemory(why)],
            }),
        }
    }

    /// Makes an index of a shape that lives with the process.
    pub fn volatile_of(shape: &Shape) -> Result<Self, FindError> {
        Self::in_memory(shape, &IndexLimits::default())
    }

    fn in_memory(shape: &Shape, limits: &IndexLimits) -> Result<Self, FindError> {
        let db = place::open_in_memory(shape, limits)?;
        Ok(Self::new(db, None, shape, limits))
    }

    fn new(
        db: Connection,
        place: Option<(PathBuf, Identity)>,
        shape: &Shape,
        limits: &IndexLimits,
    ) -> Self {
        Self {
            db,
            place,
            shape: shape.clone(),
            limits: *limits,
            damaged: AtomicBool::new(false),
            nearest: Mutex::default(),
            frequencies: Mutex::default(),
        }
    }

    /// Tells whether it lives in memory, with the process.
    pub const fn is_volatile(&self) -> bool {
        self.place.is_none()
    }

    /// Returns what it depends on.
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns how much there is in it.
    pub fn figures(&self) -> Result<Figures, FindError> {
        self.guarded(|db| {
            let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, usize>(0));
            let pages: u64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let bytes: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
            Ok(Figures {
                files: count("SELECT count(*) FROM files")?,
                pieces: count("SELECT pieces FROM state")?,
                vectors: count("SELECT count(*) FROM vectors WHERE data IS NOT NULL")?,
                bytes: pages * bytes,
            })
        })
    }

    /// Asks the database, and remembers if it is damaged.
    fn guarded<T>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<T, Trouble>,
    ) -> Result<T, FindError> {
        ask(&self.db).map_err(|trouble| {
            if let Trouble::Damaged = trouble {
                self.damaged.store(true, Ordering::Relaxed);
            }
            FindError::from(trouble)
        })
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Index")
            .field("place", &self.place)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}
