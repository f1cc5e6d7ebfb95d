//! What turns changed in a workspace, and how it is taken back.
//!
//! In: a workspace, and the moments at which turns begin and end. Out: for each turn the files that it changed, their
//! contents before and after, and a way back. [`History`] keeps the state of the workspace as it was last seen (the index), every
//! content that was ever seen (by its BLAKE3 digest), and a log of differences. A file that did not change is looked at and not
//! read. Everything lies in a directory that only the user may enter, outside of the workspace.
//!
//! This crate never follows a link, never reads or writes `.git`, never overwrites what somebody else changed unless it is
//! told to, and knows neither clock nor environment.
//!
//! ```
//! use chitin_undo::{Force, History, Options, TurnInfo, UndoRequest};
//!
//! # let directory = tempfile::tempdir()?;
//! # let (home, workspace) = (directory.path().join("home"), directory.path().join("workspace"));
//! # let root = chitin_guard::Root::create(&workspace)?.0;
//! # root.replace("notes.md".as_ref(), b"mine\n")?;
//! let history = History::new(home, &workspace, Options::default());
//! history.checkpoint(1_000)?;
//! let turn = history.begin(TurnInfo::new("run-1", "agent:main:main", "rewrite my notes"), 1_000)?;
//! root.replace("notes.md".as_ref(), b"rewritten\n")?;
//! history.end(turn, 2_000)?;
//!
//! assert_eq!(history.turns()?[0].changes.len(), 1);
//! history.undo(&UndoRequest::default(), Force::No, 3_000)?;
//! let read = root.read("notes.md".as_ref(), &chitin_guard::ReadPolicy::inside(100))?;
//! assert_eq!(read.bytes, b"mine\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod blame;
mod changes;
mod diff;
mod entry;
mod error;
mod forget;
mod history;
mod ignore;
mod index;
mod journal;
mod log;
mod look;
mod objects;
mod options;
mod path;
mod plan;
mod prune;
mod restore;
mod running;
mod undo;

pub use backup::{content_of, is_kept_in_copies};
pub use blame::BlamedLine;
pub use changes::{TurnChanges, TurnId};
pub use diff::{Difference, DifferenceLine, LineCount};
pub use entry::{Change, ContentId, Entry, NotCovered};
pub use error::UndoError;
pub use forget::{ForgottenTurns, forget, turns_of};
pub use history::{Checkpoint, History, Uncovered};
pub use ignore::IgnoreRules;
pub use index::{Index, IndexError};
pub use log::{TurnInfo, TurnKind};
pub use options::{Limits, Options};
pub use path::FilePath;
pub use plan::{Conflict, ConflictReason, Plan};
pub use running::ActiveTurn;
pub use undo::{FailedChange, Force, UndoRequest, Undone};
