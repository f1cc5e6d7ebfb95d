//! What SQLite's errors mean for a cache.

use super::notes::IndexNote;
use super::state::State;
use crate::search::FindError;
use rusqlite::{Connection, ErrorCode};

/// What went wrong, by what is to be done about it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Somebody else has it; later it may work.
    Busy,
    /// There is no room.
    Full,
    /// The content cannot be trusted.
    Damaged,
    /// Everything else.
    Other(String),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy,
                ErrorCode::DiskFull => Self::Full,
                // Our statements make sense on our tables: if one does not, the tables are not as we made them.
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => {
                    Self::Damaged
                }
                _ => Self::Other(error.to_string()),
            },
            // The tables are ours, so that what does not fit was not written by us.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::QueryReturnedNoRows => Self::Damaged,
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<Trouble> for FindError {
    fn from(trouble: Trouble) -> Self {
        Self(match trouble {
            Trouble::Busy => "another process has it".to_owned(),
            Trouble::Full => "there is no room".to_owned(),
            Trouble::Damaged => "it is damaged and will be made anew".to_owned(),
            Trouble::Other(message) => message,
        })
    }
}

impl Trouble {
    /// Returns what an error means when somebody else's expression was asked for: most likely that it is none.
    pub(super) fn of_expression(error: rusqlite::Error, db: &Connection) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::Unknown) if State::read(db).is_ok() => Self::Other(error.to_string()),
            _ => Self::from(error),
        }
    }

    /// Returns what to tell the user when the index stays as it was; nothing if it cannot.
    pub(super) fn note(&self) -> Option<IndexNote> {
        match self {
            Self::Busy => Some(IndexNote::Busy),
            Self::Full => Some(IndexNote::Full),
            Self::Damaged => None,
            Self::Other(message) => Some(IndexNote::Unwritable(message.clone())),
        }
    }
}
