//! What can go wrong.

use crate::entry::ContentId;
use chitin_guard::{ReadError, WriteError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why nothing was recorded or taken back.
#[derive(Debug, Error)]
pub enum UndoError {
    /// A file or directory cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file or directory cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file broke off while it was read or written.
    #[error("`{}` cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The workspace holds more than is looked at.
    #[error("the workspace has more than {limit} files and directories")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// Nothing was recorded of this workspace.
    #[error("no changes of turns are recorded for this workspace")]
    NothingRecorded,
    /// The last turn wrote without a record.
    #[error("what the last turn changed could not be recorded when it ran")]
    NotRecorded,
    /// The end of the log is missing.
    #[error("the log of changes is damaged: its last records are missing")]
    DamagedLog,
    /// Nothing is left to take back.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// There is no such turn.
    #[error("no changes of turn {number} are recorded")]
    NoSuchTurn {
        /// Its number.
        number: u64,
    },
    /// A turn is writing.
    #[error("turn {number} of session `{session}` is running")]
    Running {
        /// Its number.
        number: u64,
        /// Its session.
        session: String,
        /// The beginning of its message.
        message: String,
    },
    /// A kept content is not what was put there.
    #[error("the stored content {id} is damaged or missing")]
    Damaged {
        /// Its digest.
        id: ContentId,
    },
    /// The log is larger than what is read.
    #[error("the log of changes is larger than {limit} bytes")]
    LogTooLarge {
        /// The limit.
        limit: u64,
    },
    /// There is no such line.
    #[error("`{path}` has {lines} lines")]
    NoSuchLine {
        /// The file.
        path: String,
        /// How many lines it has.
        lines: usize,
    },
    /// The file is not a text that can be shown line by line.
    #[error("`{path}` is not a text file of a size that is compared")]
    NotText {
        /// The file.
        path: String,
    },
}
