//! What a user should know, and no error.

use std::fmt;

/// Something that a user should know. Nothing of it keeps a search from working.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexNote {
    /// The index was thrown away and is made anew.
    Rebuilt(Rebuild),
    /// The index cannot be where it should be; it lives in memory, with the process.
    InMemory(String),
    /// Another process kept the index for itself; it is as it was.
    Busy,
    /// There is no room for more; the index is as it was before the part that did not fit.
    Full,
    /// The index cannot be written; it is as it was.
    Unwritable(String),
    /// Only the first part of a file is in the index.
    TooLarge {
        /// The file.
        path: String,
        /// How much of it is in the index.
        bytes: usize,
    },
    /// A file holds bytes that are no UTF-8; they stand as replacement characters.
    NotUtf8 {
        /// The file.
        path: String,
    },
    /// A file cannot be read; what was known of it before is kept.
    Unreadable {
        /// The file.
        path: String,
        /// What happened.
        message: String,
    },
    /// There are more pieces than an index takes.
    TooMany {
        /// How many files are left out or cut short.
        files: usize,
        /// How many pieces an index takes.
        limit: usize,
    },
    /// Some pieces have no vector and are found by words only; they are tried again next time.
    NotEmbedded {
        /// How many.
        pieces: usize,
        /// What happened.
        message: String,
    },
}

/// Why an index was thrown away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuild {
    /// It is damaged.
    Damaged,
    /// Another version of the program made it.
    OtherFormat,
    /// It was made with other settings.
    OtherShape,
    /// Somebody deleted or replaced it while it was in use.
    Gone,
}

impl fmt::Display for IndexNote {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuilt(why) => write!(to, "The memory index is made anew: {why}."),
            Self::InMemory(why) => write!(
                to,
                "The memory index is kept in memory and is made anew each time: {why}."
            ),
            Self::Busy => to.write_str(
                "The memory index is as it was: another process is changing it, and did not come to an end in time.",
            ),
            Self::Full => to.write_str(
                "The memory index is not complete: there is no room for more. What was there before is still found.",
            ),
            Self::Unwritable(why) => {
                write!(to, "The memory index is as it was: it cannot be written ({why}).")
            }
            Self::TooLarge { path, bytes } => {
                write!(to, "Only the first {bytes} bytes of `{path}` are in the memory index.")
            }
            Self::NotUtf8 { path } => write!(
                to,
                "`{path}` holds bytes that are no UTF-8 text; the rest of it is in the memory index."
            ),
            Self::Unreadable { path, message } => {
                write!(to, "`{path}` cannot be read for the memory index: {message}.")
            }
            Self::TooMany { files, limit } => write!(
                to,
                "The memory index is not complete: it takes {limit} pieces, and {files} files are left out or cut short."
            ),
            Self::NotEmbedded { pieces, message } => write!(
                to,
                "{pieces} pieces have no vector yet and are found by words only: {message}"
            ),
        }
    }
}

impl fmt::Display for Rebuild {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Damaged => "it was damaged",
            Self::OtherFormat => "another version of this program made it",
            Self::OtherShape => "it was made with other settings",
            Self::Gone => "it was deleted or replaced while it was in use",
        })
    }
}
