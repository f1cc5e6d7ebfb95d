//! What of a record of changes is copied by whoever keeps copies of all state.

use crate::history::LOCK;
use crate::{journal, objects, running};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Component, Path};

/// Tells whether a file belongs into a copy, by its path below the directory of a record. Left out is what is about this moment and this machine: the
/// lock, turns that are writing, an undo that has begun.
pub fn is_kept_in_copies(path: &Path) -> bool {
    let first = path.components().next();
    let is = |name: &str| first == Some(Component::Normal(OsStr::new(name)));
    let moments = [
        LOCK,
        running::DIRECTORY,
        journal::JOURNAL,
        objects::UNFINISHED,
    ];
    !moments.into_iter().any(is)
}

/// Reads a file with a content as the content itself, for whoever looks through it; nothing for other files. `path` is the path below the directory of a
/// record.
pub fn content_of<'r>(
    path: &Path,
    mut file: impl Read + 'r,
) -> io::Result<Option<Box<dyn Read + 'r>>> {
    if !path.starts_with(objects::DIRECTORY) {
        return Ok(None);
    }
    let mut kind = [0];
    match file.read_exact(&mut kind) {
        Ok(()) => Ok(Some(objects::decoded(kind[0], file))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}
