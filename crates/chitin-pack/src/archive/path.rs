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
    directories: HashSet<String>,
}

impl Seen {
    /// Notes a file's path.
    pub fn add(&mut self, path: &str) -> Result<(), PackError> {
        let folded = path.to_lowercase();
        let taken = self.directories.contains(&folded) || self.files.contains(&folded);
        let above = folded
            .match_indices('/')
            .map(|(end, _)| &folded[..end])
            .find(|parent| self.files.contains(*parent));
        if taken || above.is_some() {
            return Err(PackError::new(
                ErrorClass::DuplicatePath,
                format!(
                    "`{}` stands twice, is both a file and a directory, or differs from another path in case only",
                    path.escape_debug()
                ),
            )
            .hint("rename one of the two: not every file system can hold both"));
        }
        // From the nearest upwards: above a directory that is known all are.
        for (end, _) in folded.rmatch_indices('/') {
            if !self.directories.insert(folded[..end].to_owned()) {
                break;
            }
        }
        self.files.insert(folded);
        Ok(())
    }

    /// Tells whether one of the directories above a path is itself a file.
    pub fn file_above<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.match_indices('/')
            .map(|(end, _)| &path[..end])
            .find(|parent| self.files.contains(&parent.to_lowercase()))
    }
}
