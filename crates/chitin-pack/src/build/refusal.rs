//! What the guard says, in the words of this crate.

use crate::error::{ErrorClass, PackError};
use chitin_guard::ReadError;
use chitin_protocol::record::FileRefusal;

/// Translates an error about a plain path.
pub(super) fn of(error: ReadError) -> PackError {
    let class = match &error {
        ReadError::Missing { .. } => ErrorClass::MissingPath,
        ReadError::Refused { reason, .. } => match reason {
            FileRefusal::OutsideRoot => ErrorClass::OutsideRoot,
            FileRefusal::Dangling => ErrorClass::SymlinkDangling,
            FileRefusal::Loop => ErrorClass::SymlinkCycle,
            FileRefusal::NotAFile => ErrorClass::SpecialFile,
            FileRefusal::Hardlinked => ErrorClass::HardLink,
            FileRefusal::LinkNotAllowed => ErrorClass::Symlink,
            FileRefusal::TooLarge => ErrorClass::LayerTooLarge,
            FileRefusal::Unstable | FileRefusal::Unreadable => ErrorClass::Io,
        },
        ReadError::Io { .. } => ErrorClass::Io,
    };
    told(class, error)
}

/// Translates an error about a link that was to be followed.
pub(super) fn of_link(error: ReadError) -> PackError {
    match &error {
        ReadError::Missing { .. } => told(ErrorClass::SymlinkDangling, error),
        ReadError::Refused { reason, .. } if *reason == FileRefusal::OutsideRoot => {
            told(ErrorClass::SymlinkOutsideRoot, error)
        }
        ReadError::Refused { .. } | ReadError::Io { .. } => of(error),
    }
}

fn told(class: ErrorClass, error: ReadError) -> PackError {
    let message = format!("`{}` cannot be packed", error.path().display());
    PackError::new(class, message).caused_by(error)
}
