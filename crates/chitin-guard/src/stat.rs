//! Describing an entry without opening it.

use super::fingerprint::Fingerprint;
use super::open;
use super::root::Root;
use rustix::fs::{AtFlags, OFlags};
use std::path::Path;

impl Root {
    /// Returns the permission bits of whatever stands under a name beneath the root, which is not opened and no link followed.
    pub fn mode(&self, relative: &Path) -> Option<u32> {
        let (parent, name) = self.parent_of(relative).ok()?;
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(stat.st_mode & 0o7777)
    }

    /// Describes a name beneath the root, links in the last component not followed; the empty path is the root itself.
    pub fn fingerprint(&self, relative: &Path) -> Option<Fingerprint> {
        let Some(name) = relative.file_name() else {
            let stat = rustix::fs::fstat(self.descriptor()).ok()?;
            return Some(Fingerprint::from(&stat));
        };
        let parent = match relative.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let parent =
            open::beneath(self.descriptor(), parent, self.backend(), OFlags::DIRECTORY).ok()?;
        let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Fingerprint::from(&stat))
    }
}
