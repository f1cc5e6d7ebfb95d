//! A directory that is built beside another and takes its place in one step.
//!
//! Whoever looks at the path sees the whole old tree or the whole new one, also when this process is killed. Files that are
//! not replaced are the same files in both trees, under a second name for as long as both exist.

use super::fingerprint::Fingerprint;
use super::mirror::{MirrorError, Snapshot, mirror, opened};
use super::place::{TREE, TargetDirectory};
use super::scratch::{Scratch, ScratchFile};
use super::write::{WriteError, rename_between, sync_directory};
use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How many attempts on one directory may run in one process at once.
const MAX_ATTEMPTS: u32 = 64;
/// Up to here each directory is written to the disk by itself, above it the whole file system is.
const MAX_SINGLE_SYNCS: usize = 256;

/// Why a directory was not replaced. It is as it was.
#[derive(Debug, Error)]
pub enum StageError {
    /// It cannot be replaced in one step here.
    #[error("it cannot be exchanged in one step: {reason}")]
    NotPossible {
        /// Why, in a few words.
        reason: &'static str,
    },
    /// A write failed, or somebody changed the directory meanwhile.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A new tree in the making. Dropped, it was never there.
#[derive(Debug)]
pub struct Staging<'p> {
    place: &'p TargetDirectory,
    scratch: Scratch,
    snapshot: Option<Snapshot>,
    touched: BTreeSet<PathBuf>,
}

impl TargetDirectory {
    /// Begins a new tree with everything that the old one holds, but for the files that are to be replaced.
    pub fn stage(
        &self,
        max_entries: usize,
        is_replaced: &dyn Fn(&Path, &Fingerprint) -> bool,
    ) -> Result<Staging<'_>, StageError> {
        let scratch = self.staging_directory()?;
        let tree = Path::new(TREE);
        let fail = |error| scratch.root().write_error(tree, error);
        let mode = Mode::from_raw_mode(if self.existing().is_some() {
            0o700
        } else {
            0o755
        });
        rustix::fs::mkdirat(scratch.root().descriptor(), TREE, mode).map_err(fail)?;
        let snapshot = if let Some(existing) = self.existing() {
            let mirrored = mirror(existing, scratch.root(), tree, max_entries, is_replaced);
            Some(mirrored.map_err(|error| self.explain(error))?)
        } else {
            scratch.directory(&tree.join(&self.below))?;
            None
        };
        Ok(Staging {
            place: self,
            scratch,
            snapshot,
            touched: BTreeSet::new(),
        })
    }

    pub(super) fn staging_directory(&self) -> Result<Scratch, StageError> {
        let not_possible = |reason| StageError::NotPossible { reason };
        let Some(above) = self.above.as_ref().filter(|_| !self.name.is_empty()) else {
            return Err(not_possible("there is no directory above it"));
        };
        for count in 0..MAX_ATTEMPTS {
            match above.make_scratch(Path::new(&self.staging_name(count))) {
                Ok(Some(scratch)) => return Ok(scratch),
                Ok(None) => {}
                Err(WriteError::Io { source, .. }) if is_denied(&source) => {
                    return Err(not_possible("the directory above it cannot be written to"));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(not_possible("too many others are at it"))
    }

    fn explain(&self, error: MirrorError) -> StageError {
        match error {
            MirrorError::NotPossible(reason) => StageError::NotPossible { reason },
            MirrorError::Io(_, Errno::ACCESS | Errno::PERM) => StageError::NotPossible {
                reason: "a directory in it cannot be read",
            },
            MirrorError::Io(path, error) => StageError::Write(WriteError::Io {
                path: self.path().join(path),
                source: error.into(),
            }),
        }
    }
}

impl Staging<'_> {
    /// Makes a directory and its parents in the new tree.
    pub fn directory(&mut self, relative: &Path) -> Result<(), WriteError> {
        for above in relative.ancestors().skip(1) {
            self.touched.insert(above.to_path_buf());
        }
        self.touched.insert(relative.to_path_buf());
        self.scratch.directory(&self.inside(relative))
    }

    /// Begins a file in the new tree, in a directory that is there. A name that is taken there was taken in the old tree, by a
    /// file that is not to be replaced.
    pub fn file(&mut self, relative: &Path, mode: NewMode) -> Result<ScratchFile, WriteError> {
        if let Some(parent) = relative.parent() {
            self.touched.insert(parent.to_path_buf());
        }
        match self.scratch.begin(&self.inside(relative), mode) {
            Err(WriteError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => {
                let path = self.place.path().join(relative);
                Err(WriteError::Changed { path })
            }
            begun => begun,
        }
    }

    fn inside(&self, relative: &Path) -> PathBuf {
        Path::new(TREE).join(&self.place.below).join(relative)
    }

    /// Puts the new tree in the place of the old one. After an error the old one stands there.
    pub fn commit(self) -> Result<(), StageError> {
        let tree = Path::new(TREE);
        if let Some(snapshot) = &self.snapshot {
            snapshot
                .restore(self.scratch.root(), tree, &self.touched)
                .map_err(|error| self.place.explain(error))?;
        }
        self.sync()?;
        let (Some(above), name) = (&self.place.above, self.place.name.as_os_str()) else {
            return Err(StageError::NotPossible {
                reason: "there is no directory above it",
            });
        };
        let changed = || {
            StageError::Write(WriteError::Changed {
                path: self.place.path().into(),
            })
        };
        let Some(snapshot) = &self.snapshot else {
            let scratch = opened(self.scratch.root(), Path::new("")).map_err(|e| self.failed(e))?;
            let above = opened(above, Path::new("")).map_err(|e| self.failed(e))?;
            return match rename_between(&scratch, OsStr::new(TREE), &above, name) {
                Ok(()) => {
                    sync_directory(&above);
                    Ok(())
                }
                Err(Errno::EXIST | Errno::NOTEMPTY) => Err(changed()),
                Err(error) => Err(self.failed(error).into()),
            };
        };
        self.exchange(above, name)?;
        if !snapshot.still_holds(self.scratch.root(), tree) {
            if self.exchange(above, name).is_err() {
                self.scratch.leave_under_another_name(tree);
            }
            return Err(changed());
        }
        if let Ok(above) = opened(above, Path::new("")) {
            sync_directory(&above);
        }
        Ok(())
    }

    fn exchange(&self, above: &super::root::Root, name: &OsStr) -> Result<(), StageError> {
        let exchanged = rustix::fs::renameat_with(
            self.scratch.root().descriptor(),
            TREE,
            above.descriptor(),
            name,
            RenameFlags::EXCHANGE,
        );
        let reason = match exchanged {
            Ok(()) => return Ok(()),
            Err(Errno::BUSY) => "it is a mount point",
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => "it may not be moved",
            Err(Errno::INVAL | Errno::NOSYS | Errno::XDEV | Errno::OPNOTSUPP) => {
                "the file system does not know how"
            }
            Err(Errno::NOENT) => {
                let path = self.place.path().into();
                return Err(WriteError::Changed { path }.into());
            }
            Err(error) => return Err(self.failed(error).into()),
        };
        Err(StageError::NotPossible { reason })
    }

    /// Writes the names in the new directories to the disk; the files in them are there already.
    fn sync(&self) -> Result<(), WriteError> {
        let mut directories = self.touched.clone();
        directories.insert(PathBuf::new());
        if let Some(snapshot) = &self.snapshot {
            directories.extend(snapshot.directories().map(Path::to_path_buf));
        }
        #[cfg(target_os = "linux")]
        if directories.len() > MAX_SINGLE_SYNCS {
            let root = self.scratch.root().descriptor();
            return rustix::fs::syncfs(root).map_err(|error| self.failed(error));
        }
        for directory in directories {
            let opened = opened(self.scratch.root(), &self.inside(&directory));
            sync_directory(&opened.map_err(|error| self.failed(error))?);
        }
        for above in self.place.below.ancestors() {
            let opened = opened(self.scratch.root(), &Path::new(TREE).join(above));
            sync_directory(&opened.map_err(|error| self.failed(error))?);
        }
        Ok(())
    }

    fn failed(&self, error: Errno) -> WriteError {
        WriteError::Io {
            path: self.place.path().into(),
            source: error.into(),
        }
    }
}

/// The permission bits of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewMode {
    /// These, less what the process takes away.
    Usual(u32),
    /// Exactly these.
    Exactly(u32),
}

fn is_denied(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}
