//! Paths in JSON. A name need not be UTF-8; one such name must not cost the reader all the rest.

use serde::Serializer;
use std::path::{Path, PathBuf};

/// Writes a path, with U+FFFD for what is not UTF-8.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Writes a path that may be absent.
pub fn serialize_option<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => serialize(path, serializer),
        None => serializer.serialize_none(),
    }
}
