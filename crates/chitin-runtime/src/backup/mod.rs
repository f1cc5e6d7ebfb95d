//! Backups: everything in Chitin's home in one file, taken while others use it, and put back whole or not at all.
//!
//! ```text
//!   home ──▶ copy: what is taken, at which moment ──▶ archive: tar, digests ──▶ a file or a pipe
//!   a file ──▶ archive: checked to its end ──▶ restore: a tree beside the home ──▶ its place, in one step
//! ```

mod archive;
mod copy;
mod restore;
mod tar;

pub use archive::{BackupHead, BackupTotals};
pub use copy::{BackupOptions, BackupReport, LeftOut, LeftOutReason, write_backup};
pub use restore::{RestoreOptions, RestoreReport, check_backup, restore_backup};

use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::{ReadError, StageError, WriteError};
use chitin_store::StoreError;
use std::io;
use std::path::PathBuf;

/// Told how far a backup is: files and bytes.
pub type BackupProgress<'p> = &'p mut dyn FnMut(BackupTotals);

/// Why there is no backup, or why it was not put back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// It is something else.
    #[error("This is not a backup of Chitin.")]
    NotOne,
    /// A newer version wrote it.
    #[error("A newer version of Chitin ({chitin}) wrote this backup, in format {version}.")]
    Newer {
        /// The version of the format.
        version: u32,
        /// The version of the program.
        chitin: String,
    },
    /// It is not what was written.
    #[error("The backup is damaged: {reason}.")]
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// It names a file outside of the home.
    #[error("The backup holds the path `{path}`, which is not safe to write.")]
    Unsafe {
        /// The path.
        path: String,
    },
    /// It could not be read.
    #[error("The backup could not be read.")]
    Unreadable(#[source] io::Error),
    /// It could not be written.
    #[error("The backup could not be written.")]
    Unwritable(#[source] io::Error),
    /// A file of the home could not be read.
    #[error("`{}` could not be backed up.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is something in the home.
    #[error("`{}` is not empty.", path.display())]
    NotEmpty {
        /// The home.
        path: PathBuf,
    },
    /// A process uses the home.
    #[error("A process uses `{}`: {what}.", path.display())]
    InUse {
        /// The home.
        path: PathBuf,
        /// What it is.
        what: String,
    },
    /// Files could not be put in place. The home is as it was.
    #[error("The backup could not be put into `{}`; nothing was changed there.", path.display())]
    NotPlaced {
        /// The home.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BackupError {
    fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged {
            reason: reason.into(),
        }
    }

    fn file(path: impl Into<PathBuf>) -> impl FnOnce(ReadError) -> Self {
        let path = path.into();
        |source| Self::File {
            path,
            source: source.into(),
        }
    }

    fn store(path: impl Into<PathBuf>) -> impl FnOnce(StoreError) -> Self {
        let path = path.into();
        |source| Self::File {
            path,
            source: source.into(),
        }
    }

    fn placing(path: impl Into<PathBuf>) -> impl FnOnce(WriteError) -> Self {
        let path = path.into();
        |source| Self::NotPlaced {
            path,
            source: source.into(),
        }
    }

    fn staging(path: impl Into<PathBuf>) -> impl FnOnce(StageError) -> Self {
        let path = path.into();
        |source| Self::NotPlaced {
            path,
            source: source.into(),
        }
    }

    const fn kind(&self) -> ErrorKind {
        match self {
            Self::NotOne
            | Self::Newer { .. }
            | Self::Damaged { .. }
            | Self::Unreadable(_)
            | Self::Unwritable(_)
            | Self::File { .. }
            | Self::NotPlaced { .. } => ErrorKind::User,
            Self::Unsafe { .. } | Self::NotEmpty { .. } | Self::InUse { .. } => ErrorKind::Refused,
        }
    }

    const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotOne => Some("name a file that `chitin backup` wrote"),
            Self::Newer { .. } => Some("restore it with that version"),
            Self::Damaged { .. } | Self::Unsafe { .. } => {
                Some("nothing was restored; use another backup")
            }
            Self::Unwritable(_) => Some("see that the disk has room, or name another file"),
            Self::NotEmpty { .. } => Some(
                "`--force` sets what is there aside under another name and restores; `CHITIN_HOME` names another home",
            ),
            Self::InUse { .. } => Some("stop `chitin serve` and running turns first"),
            Self::NotPlaced { .. } => Some(
                "restore into another directory with `CHITIN_HOME`, for example one below a mount point",
            ),
            Self::Unreadable(_) | Self::File { .. } => None,
        }
    }
}

impl From<BackupError> for RuntimeError {
    fn from(mut error: BackupError) -> Self {
        let mut told = Self::new(error.kind(), error.to_string());
        if let Some(hint) = error.hint() {
            told = told.hint(hint);
        }
        match &mut error {
            BackupError::Unreadable(source) | BackupError::Unwritable(source) => {
                told.caused_by(std::mem::replace(source, io::ErrorKind::Other.into()))
            }
            BackupError::File { source, .. } | BackupError::NotPlaced { source, .. } => {
                told.caused_by(std::mem::replace(source, "".into()))
            }
            BackupError::NotOne
            | BackupError::Newer { .. }
            | BackupError::Damaged { .. }
            | BackupError::Unsafe { .. }
            | BackupError::NotEmpty { .. }
            | BackupError::InUse { .. } => told,
        }
    }
}
