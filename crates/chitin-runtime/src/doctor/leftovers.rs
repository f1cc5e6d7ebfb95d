//! What writes left that were killed: below Chitin's home and in the workspace. It is found, and removed if that is asked for.

use super::{DoctorCheck, DoctorFix, named};
use chitin_guard::Root;
use std::path::Path;

const AREA: &str = "files";
/// No more names of a directory are looked at.
const MOST_NAMES: usize = 200_000;

/// Looks for unfinished files beneath directories, and removes them if asked to.
pub(super) fn look(directories: &[&Path], fix: DoctorFix) -> Vec<DoctorCheck> {
    let mut found = Vec::new();
    let mut failed = Vec::new();
    for directory in directories {
        let Ok(root) = Root::open(directory) else {
            continue;
        };
        for path in root.leftovers(MOST_NAMES) {
            let removed = match fix {
                DoctorFix::Nothing => Ok(()),
                DoctorFix::All => root.remove_file(&path),
            };
            match removed {
                Ok(()) => found.push(directory.join(path)),
                Err(error) => failed.push(error.to_string()),
            }
        }
    }
    let mut checks = Vec::new();
    checks.push(match (found.is_empty(), fix) {
        (true, _) => DoctorCheck::fine(AREA, "no unfinished files of processes that were killed"),
        (false, DoctorFix::Nothing) => DoctorCheck::odd(
            AREA,
            format!("processes that were killed left {}", named(&found)),
            "`chitin doctor --fix` removes them",
        ),
        (false, DoctorFix::All) => DoctorCheck::fine(
            AREA,
            format!(
                "removed what processes left that were killed: {}",
                named(&found)
            ),
        ),
    });
    if !failed.is_empty() {
        let message = format!(
            "unfinished files could not be removed: {}",
            failed.join("; ")
        );
        checks.push(DoctorCheck::odd(
            AREA,
            message,
            "see that the files are yours",
        ));
    }
    checks
}

/// Removes what writes below a directory left that were killed. What cannot be removed stays.
pub(crate) fn clear(directory: &Path) {
    let Ok(root) = Root::open(directory) else {
        return;
    };
    for path in root.leftovers(MOST_NAMES) {
        let _ = root.remove_file(&path);
    }
}
