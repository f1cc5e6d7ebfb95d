//! What the guard says, in the words of this crate.

use crate::error::{ErrorClass, PackError};
use chitin_guard::ReadError;
use chitin_protocol::record::Refusal;

/// Translates an error about a plain path.
pub(super) fn of(error: ReadError) -> PackError {
    let class = match &error {
        ReadError::Missing { .. } => ErrorClass::MissingPath,
        ReadError::Refused { reason, .. } => match reason {
            Refusal::OutsideRoot => ErrorClass::OutsideRoot,
            Refusal::Dangling => ErrorClass::SymlinkDangling,
            Refusal::Loop => ErrorClass::SymlinkCycle,
            Refusal::NotAFile => ErrorClass::SpecialFile,
            Refusal::Hardlinked => ErrorClass::HardLink,
            Refusal::LinkNotAllowed => ErrorClass::Symlink,
            Refusal::TooLarge => ErrorClass::LayerTooLarge,
            Refusal::Unstable | Refusal::Unreadable => ErrorClass::Io,
        },
        ReadError::Io { .. } => ErrorClass::Io,
    };
    told(class, error)
}

/// Translates an error about a link that was to be followed.
pub(super) fn of_link(error: ReadError) -> PackError {
    match &error {
        ReadError::Missing { .. } => told(ErrorClass::SymlinkDangling, error),
        ReadError::Refused { reason, .. } if *reason == Refusal::OutsideRoot => {
            told(ErrorClass::SymlinkOutsideRoot, error)
        }
        ReadError::Refused { .. } | ReadError::Io { .. } => of(error),
    }
}

fn told(class: ErrorClass, error: ReadError) -> PackError {
    let message = format!("`{}` cannot be packed", error.path().display());
    PackError::new(class, message).caused_by(error)
}
