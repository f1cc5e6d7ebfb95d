//! Scratch directories of a process, beside those of others in one directory of caches.

use super::policy::LinkPolicy;
use super::root::{DirectoryEntryKind, Root};
use super::scratch::Scratch;
use super::write::WriteError;
use rustix::io::Errno;
use rustix::process::Pid;
use std::path::{Path, PathBuf};

/// How many names are looked at for what killed processes left.
const MAX_NAMES: usize = 10_000;

impl Root {
    /// Makes a scratch directory named after a prefix and this process, and clears away those that killed processes left
    /// under the same prefix. `None` when this process holds `most` of them already.
    pub fn scratch_of_process(
        &self,
        prefix: &str,
        most: u32,
    ) -> Result<Option<Scratch>, WriteError> {
        self.clear_abandoned(prefix);
        let process = std::process::id();
        for count in 0..most {
            let name = PathBuf::from(format!("{prefix}{process}-{count}"));
            if let Some(scratch) = self.make_scratch(&name)? {
                return Ok(Some(scratch));
            }
        }
        Ok(None)
    }

    fn clear_abandoned(&self, prefix: &str) {
        let Ok(entries) = self.list(Path::new(""), &LinkPolicy::Refuse, MAX_NAMES) else {
            return;
        };
        for entry in entries {
            let process = entry
                .name
                .to_str()
                .and_then(|name| process_of(name, prefix));
            // One that is just being made is not claimed yet, but its process lives. A process of that number may also live
            // in another container: then the claim holds.
            if entry.kind == DirectoryEntryKind::Directory && process.is_some_and(is_gone) {
                drop(self.take_abandoned_scratch(Path::new(&entry.name)));
            }
        }
    }
}

/// Returns the process that a directory belongs to.
fn process_of(name: &str, prefix: &str) -> Option<Pid> {
    let (process, _) = name.strip_prefix(prefix)?.split_once('-')?;
    Pid::from_raw(process.parse().ok().filter(|number| *number > 0)?)
}

fn is_gone(process: Pid) -> bool {
    rustix::process::test_kill_process(process) == Err(Errno::SRCH)
}
