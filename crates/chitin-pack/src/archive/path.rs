//! Which paths an archive may hold.

use crate::error::{ErrorClass, PackError};
use std::collections::HashSet;

/// Longer paths are nobody's; file systems stop at this too.
pub(super) const MAX_PATH_BYTES: usize = 4096;
/// Deeper paths are nobody's; every part is looked up once for each file below it.
const MAX_DEPTH: usize = 128;
/// The names of all files of an archive together: they are held while it is read.
const MAX_NAME_BYTES: usize = 8 * 1024 * 1024;

/// Checks a path that is to be written (rule P24).
pub fn check(path: &str) -> Result<(), PackError> {
    let refuse = |class, what: &str| {
        let shown: String = path.chars().take(120).collect();
        Err(PackError::new(
            class,
            format!("`{}` cannot be packed: {what}", shown.escape_debug()),
        ))
    };
    if path.is_empty() {
        return Err(PackError::new(ErrorClass::EmptyPath, "a path is empty"));
    }
    if path.contains('\0') {
        return refuse(ErrorClass::NulPath, "it contains a NUL byte");
    }
    if path.contains('\\') {
        return refuse(ErrorClass::BackslashPath, "it contains a backslash");
    }
    if path.starts_with('/') {
        return refuse(ErrorClass::AbsolutePath, "it is absolute");
    }
    if path.starts_with("./") {
        return refuse(ErrorClass::DotSlashPath, "it starts with `./`");
    }
    if path.split('/').any(|segment| segment == "..") {
        return refuse(ErrorClass::DotdotSegment, "it climbs");
    }
    if path.split('/').any(|segment| matches!(segment, "" | ".")) {
        return refuse(ErrorClass::EmptyPath, "a part of it is empty or `.`");
    }
    if path.len() > MAX_PATH_BYTES || path.split('/').count() > MAX_DEPTH {
        return refuse(ErrorClass::PathTooLong, "it is too long or too deep");
    }
    Ok(())
}

/// The paths that an archive holds so far, to refuse a second one of the same name, or one that differs in case only: not
/// every file system could hold both.
#[derive(Debug, Default)]
pub struct SeenPaths {
    files: HashSet<String>,
    name_bytes: usize,
}

impl SeenPaths {
    /// Notes a file's path.
    pub fn add(&mut self, path: &str) -> Result<(), PackError> {
        self.name_bytes += path.len();
        if self.name_bytes > MAX_NAME_BYTES {
            let message = format!("the names of its files take more than {MAX_NAME_BYTES} bytes");
            return Err(PackError::new(ErrorClass::LayerTooLarge, message));
        }
        if self.files.insert(path.to_lowercase()) {
            Ok(())
        } else {
            Err(twice(path))
        }
    }

    /// Checks at the end that no file is a directory, too, in whatever order they came.
    pub fn finish(&self) -> Result<(), PackError> {
        let clash = |path: &&String| self.file_above(path).is_some();
        match self.files.iter().find(clash) {
            Some(path) => Err(twice(path)),
            None => Ok(()),
        }
    }

    /// Tells whether one of the directories above a path is itself a file.
    pub fn file_above<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.match_indices('/')
            .map(|(end, _)| &path[..end])
            .find(|parent| self.files.contains(&parent.to_lowercase()))
    }
}

fn twice(path: &str) -> PackError {
    PackError::new(
        ErrorClass::DuplicatePath,
        format!(
            "`{}` stands twice, is both a file and a directory, or differs from another path in case only",
            path.escape_debug()
        ),
    )
    .hint("rename one of the two: not every file system can hold both")
}
