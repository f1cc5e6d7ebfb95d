//! The same tree a second time: directories made again, everything in them under a second name.

use super::fingerprint::{Fingerprint, file_type};
use super::open;
use super::root::Root;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, Stat, Timestamps, Uid};
use rustix::io::Errno;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Labels that the system gives to a new directory by itself.
const OWN_LABELS: [&[u8]; 1] = [b"security.selinux"];

/// What was seen under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    kind: FileType,
    fingerprint: Fingerprint,
    fate: Fate,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It has a second name in the new tree, or was made again.
    Kept,
    /// A new file takes its place.
    Replaced,
}

/// What a tree held when it was mirrored.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    marks: HashMap<PathBuf, Mark>,
    /// Directories, parents first, with what must be given back to them.
    directories: Vec<(PathBuf, Stat)>,
}

/// Why a tree cannot be mirrored.
#[derive(Debug)]
pub(super) enum MirrorError {
    /// The file system or the tree does not allow it.
    NotPossible(&'static str),
    /// The operating system failed.
    Io(PathBuf, Errno),
}

/// Mirrors a tree into an empty directory beneath `to`. Files for which `is_replaced` holds get no second name.
pub(super) fn mirror(
    from: &Root,
    to: &Root,
    tree: &Path,
    max_entries: usize,
    is_replaced: &dyn Fn(&Path, &Fingerprint) -> bool,
) -> Result<Snapshot, MirrorError> {
    let mut snapshot = Snapshot::default();
    let root = rustix::fs::fstat(from.descriptor())
        .map_err(|error| MirrorError::Io(PathBuf::new(), error))?;
    snapshot.directories.push((PathBuf::new(), root));
    let mut at = 0;
    while let Some((here, _)) = snapshot.directories.get(at) {
        let here = here.clone();
        at += 1;
        let fail = |error| MirrorError::Io(here.clone(), error);
        let source = opened(from, &here).map_err(fail)?;
        if has_attributes(&source) {
            return Err(MirrorError::NotPossible(
                "a directory has special attributes",
            ));
        }
        let target = opened(to, &tree.join(&here)).map_err(fail)?;
        for name in names(&source).map_err(fail)? {
            let path = here.join(&name);
            let fail = |error| MirrorError::Io(path.clone(), error);
            if snapshot.marks.len() >= max_entries {
                return Err(MirrorError::NotPossible("it holds too many other files"));
            }
            let stat =
                rustix::fs::statat(&source, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
            let kind = file_type(&stat);
            let fingerprint = Fingerprint::from(&stat);
            let mut fate = Fate::Kept;
            if stat.st_dev != root.st_dev {
                return Err(MirrorError::NotPossible(
                    "another file system is mounted in it",
                ));
            } else if kind == FileType::Directory {
                rustix::fs::mkdirat(&target, &name, Mode::from_raw_mode(0o700)).map_err(fail)?;
                snapshot.directories.push((path.clone(), stat));
            } else if is_replaced(&path, &fingerprint) {
                fate = Fate::Replaced;
            } else {
                // A link gets a second name like a file; it is not followed.
                match rustix::fs::linkat(&source, &name, &target, &name, AtFlags::empty()) {
                    Ok(()) => {}
                    Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::NOENT)) => {
                        return Err(fail(error));
                    }
                    Err(_) => {
                        return Err(MirrorError::NotPossible("a file cannot have a second name"));
                    }
                }
            }
            snapshot.marks.insert(
                path,
                Mark {
                    kind,
                    fingerprint,
                    fate,
                },
            );
        }
    }
    Ok(snapshot)
}

impl Snapshot {
    /// Gives the directories of the new tree the owners, permissions and times of the old ones. Times move where something
    /// new was put.
    pub(super) fn restore(
        &self,
        to: &Root,
        tree: &Path,
        touched: &BTreeSet<PathBuf>,
    ) -> Result<(), MirrorError> {
        for (path, stat) in self.directories.iter().rev() {
            let fail = |error| MirrorError::Io(path.clone(), error);
            let directory = opened(to, &tree.join(path)).map_err(fail)?;
            let now = rustix::fs::fstat(&directory).map_err(fail)?;
            if (now.st_uid, now.st_gid) != (stat.st_uid, stat.st_gid) {
                let owner = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
                rustix::fs::fchown(&directory, Some(owner.0), Some(owner.1)).map_err(|_| {
                    MirrorError::NotPossible("a directory belongs to somebody else")
                })?;
            }
            let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
            rustix::fs::fchmod(&directory, mode).map_err(fail)?;
            if !touched.contains(path) {
                rustix::fs::futimens(&directory, &times(stat)).map_err(fail)?;
            }
        }
        Ok(())
    }

    /// Tells whether a tree still is the one that was mirrored: the same entries, and the files that are to be replaced not
    /// written to. Others may change: they are the same files in both trees.
    pub(super) fn still_holds(&self, root: &Root, tree: &Path) -> bool {
        let Some((_, top)) = self.directories.first() else {
            return false;
        };
        let same_top = opened(root, tree)
            .and_then(rustix::fs::fstat)
            .is_ok_and(|now| Fingerprint::from(&now).is_same_file(&Fingerprint::from(top)));
        same_top && self.compare(root, tree).unwrap_or(false)
    }

    fn compare(&self, root: &Root, tree: &Path) -> Result<bool, Errno> {
        let mut count = 0;
        for (here, _) in &self.directories {
            let directory = opened(root, &tree.join(here))?;
            for name in names(&directory)? {
                let stat = rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
                let Some(mark) = self.marks.get(&here.join(&name)) else {
                    return Ok(false);
                };
                let now = Fingerprint::from(&stat);
                let written =
                    (now.size, now.mtime) != (mark.fingerprint.size, mark.fingerprint.mtime);
                let same = mark.fingerprint.is_same_file(&now) && mark.kind == file_type(&stat);
                if !same || (mark.fate == Fate::Replaced && written) {
                    return Ok(false);
                }
                count += 1;
            }
        }
        Ok(count == self.marks.len())
    }

    /// Returns every directory, parents first.
    pub(super) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(|(path, _)| path.as_path())
    }
}

pub(super) fn opened(root: &Root, relative: &Path) -> Result<OwnedFd, Errno> {
    let relative = if relative.as_os_str().is_empty() {
        Path::new(".")
    } else {
        relative
    };
    open::beneath(
        root.descriptor(),
        relative,
        root.backend(),
        open::LIST_FLAGS,
    )
    .map_err(|failure| match failure {
        open::OpenFailure::Io(error) => error,
        open::OpenFailure::Missing
        | open::OpenFailure::LinkOrEscape
        | open::OpenFailure::NotAFile
        | open::OpenFailure::Unstable => Errno::NOENT,
    })
}

fn names(directory: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    open::each_name(directory, |name, _| {
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
        }
        true
    })?;
    Ok(names)
}

/// Tells whether a directory has access lists or notes of the user, which a new one would lack.
fn has_attributes(directory: &OwnedFd) -> bool {
    let mut list = Vec::with_capacity(4096);
    match rustix::fs::flistxattr(directory, rustix::buffer::spare_capacity(&mut list)) {
        Ok(_) => list
            .split(|byte| *byte == 0)
            .any(|name| !name.is_empty() && !OWN_LABELS.contains(&name)),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => false,
        Err(_) => true,
    }
}

#[expect(
    clippy::cast_possible_wrap,
    reason = "the fields of `stat` have other widths and signs on other platforms"
)]
fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanoseconds| rustix::fs::Timespec {
        tv_sec: seconds,
        tv_nsec: nanoseconds,
    };
    Timestamps {
        last_access: time(stat.st_atime as _, stat.st_atime_nsec as _),
        last_modification: time(stat.st_mtime as _, stat.st_mtime_nsec as _),
    }
}
