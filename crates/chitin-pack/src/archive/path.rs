//! Which paths an archive may hold.

use crate::error::{ErrorClass, PackError};
use std::collections::HashSet;

/// Longer paths are nobody's; file systems stop at this too.
pub(super) const MAX_PATH_BYTES: usize = 4096;

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
        return refuse(ErrorClass::NulPath, "it holds a NUL byte");
    }
    if path.contains('\\') {
        return refuse(ErrorClass::BackslashPath, "it holds a backslash");
    }
    if path.starts_with('/') {
        return refuse(ErrorClass::AbsolutePath, "it is absolute");
    }
    if path.starts_with("./") {
        return refuse(ErrorClass::DotSlashPath, "it begins with `./`");
    }
    if path.split('/').any(|segment| segment == "..") {
        return refuse(ErrorClass::DotdotSegment, "it climbs");
    }
    if path.split('/').any(|segment| matches!(segment, "" | ".")) {
        return refuse(ErrorClass::EmptyPath, "a part of it is empty or `.`");
    }
    if path.len() > MAX_PATH_BYTES {
        return refuse(ErrorClass::PathTooLong, "it is too long");
    }
    Ok(())
}

/// The paths that an archive holds so far, to refuse a second one of the same name, or one that differs in case only: not
/// every file system could hold both.
#[derive(Debug, Default)]
pub struct Seen {
    files: HashSet<String>,
}

impl Seen {
    /// Notes a file's path.
    pub fn add(&mut self, path: &str) -> Result<(), PackError> {
        if self.files.insert(path.to_lowercase()) {
            Ok(())
        } else {
            Err(PackError::new(
                ErrorClass::DuplicatePath,
                format!(
                    "`{}` stands twice, or differs from another path in case only",
                    path.escape_debug()
                ),
            )
            .hint("rename one of the two: not every file system can hold both"))
        }
    }

    /// Tells whether one of the directories above a path is itself a file.
    pub fn file_above<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.match_indices('/')
            .map(|(end, _)| &path[..end])
            .find(|parent| self.files.contains(&parent.to_lowercase()))
    }
}
