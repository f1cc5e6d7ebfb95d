//! Questions about paths outside any root: answered with yes or no, never with content.

use rustix::fs::Access;
use std::path::Path;

/// Tells whether this process may execute what stands at the path, links followed.
pub fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, Access::EXEC_OK).is_ok()
}
