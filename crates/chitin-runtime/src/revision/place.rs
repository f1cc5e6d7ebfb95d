//! Where a revision is unfolded: a private directory in Chitin's cache, and nowhere else.

use super::links::Original;
use crate::Host;
use crate::error::{ErrorKind, RuntimeError};
use chitin_guard::normalized;
use chitin_guard::{Root, Scratch, WriteError};
use std::path::{Path, PathBuf};

const CACHE: &str = "cache";
const PREFIX: &str = "revision-";
/// How many revisions one process may hold at once.
const MAX_REVISIONS: u32 = 64;

/// Makes a new place, and clears away those of processes that were killed.
pub(super) fn make(host: &Host, original: &Original<'_>) -> Result<Scratch, RuntimeError> {
    let home = crate::chitin_home(host).ok_or_else(|| {
        RuntimeError::new(
            ErrorKind::User,
            "Could not determine a directory for unpacking the git revision.",
        )
        .hint("set `HOME` or `CHITIN_HOME`")
    })?;
    let home = real_spelling(&normalized(&host.env.working_directory().join(home)));
    if home.starts_with(original.real) {
        return Err(RuntimeError::new(
            ErrorKind::Usage,
            format!(
                "The git revision would be unpacked into the workspace itself, because `{}` is in it.",
                crate::shown(&home, host)
            ),
        )
        .hint("set `CHITIN_HOME` to a directory outside the workspace"));
    }
    let cache = Root::create_private(&home.join(CACHE)).map_err(failed)?;
    let made = cache.scratch_of_process(PREFIX, MAX_REVISIONS);
    made.map_err(failed)?.ok_or_else(|| {
        RuntimeError::new(
            ErrorKind::Internal,
            format!("More than {MAX_REVISIONS} revisions are open at once."),
        )
    })
}

/// Returns a path with the links in its existing part resolved.
fn real_spelling(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(root) = Root::open(above)
            && let Ok(rest) = path.strip_prefix(above)
        {
            return root.real_path().join(rest);
        }
    }
    path.to_path_buf()
}

fn failed(error: WriteError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, "Could not unpack a git revision.").caused_by(error)
}
