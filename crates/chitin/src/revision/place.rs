//! Where a revision is unfolded: a private directory in Chitin's cache, and nowhere else.

use super::links::Original;
use crate::error::{CliError, Kind};
use crate::host::Host;
use crate::setup;
use chitin_workspace::guard::{EntryKind, Links, Root, Scratch, WriteError};
use chitin_workspace::home::normalized;
use std::path::{Path, PathBuf};

const CACHE: &str = "cache";
const PREFIX: &str = "revision-";
/// How many names of the cache are looked at for leftovers.
const MAX_NAMES: usize = 10_000;
/// How many revisions one process may hold at once.
const MAX_REVISIONS: u32 = 64;

/// Makes a new place, and clears away those of processes that were killed.
pub(super) fn make(host: &Host, original: &Original<'_>) -> Result<Scratch, CliError> {
    let home = setup::chitin_home(host).ok_or_else(|| {
        CliError::new(
            Kind::User,
            "A git revision needs a directory to be unfolded in, and there is no home.",
        )
        .hint("set `HOME` or `CHITIN_HOME`")
    })?;
    let home = real_spelling(&normalized(&host.env.working_directory().join(home)));
    if home.starts_with(original.real) {
        return Err(CliError::new(
            Kind::Usage,
            format!(
                "A git revision would be unfolded in the workspace itself, because `{}` is in it.",
                setup::shown(&home, host)
            ),
        )
        .hint("set `CHITIN_HOME` to a directory outside the workspace"));
    }
    let (home, _) = Root::create(&home).map_err(failed)?;
    home.make_directories(Path::new(CACHE)).map_err(failed)?;
    sweep(&home);
    let process = std::process::id();
    for count in 0..MAX_REVISIONS {
        let name = Path::new(CACHE).join(format!("{PREFIX}{process}-{count}"));
        if let Some(place) = home.make_scratch(&name).map_err(failed)? {
            return Ok(place);
        }
    }
    Err(CliError::new(
        Kind::Internal,
        format!("More than {MAX_REVISIONS} revisions are open at once."),
    ))
}

/// Removes what killed processes left.
fn sweep(home: &Root) {
    let Ok(entries) = home.list(Path::new(CACHE), &Links::Refuse, MAX_NAMES) else {
        return;
    };
    for entry in entries {
        let process = entry.name.to_str().and_then(process_of);
        if entry.kind == EntryKind::Directory && process.is_some_and(is_gone) {
            // A process of that number may live in another container: then the claim on its place still holds.
            drop(home.take_abandoned_scratch(&Path::new(CACHE).join(&entry.name)));
        }
    }
}

/// Returns the process that a place belongs to.
fn process_of(name: &str) -> Option<rustix::process::Pid> {
    let (process, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    rustix::process::Pid::from_raw(process.parse().ok().filter(|number| *number > 0)?)
}

fn is_gone(process: rustix::process::Pid) -> bool {
    rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
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

fn failed(error: WriteError) -> CliError {
    CliError::new(Kind::User, "A git revision cannot be unfolded.").caused_by(error)
}
