//! A new tree for a directory that is replaced as a whole: built beside it, put in its place in one step, and the old one kept.
//!
//! Whoever looks at the path sees the old tree or the new one, also when this process is killed. The old one is never removed.

use super::mirror::opened;
use super::place::{TREE, TargetDirectory};
use super::root::Root;
use super::scratch::{Scratch, ScratchFile};
use super::staging::{NewMode, StageError};
use super::write::{WriteError, rename_between, sync_directory};
use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// How many names are tried for the old tree.
const MAX_NAMES: u32 = 1_000;

/// A new tree in the making, for this user alone. Dropped, it was never there.
#[derive(Debug)]
pub struct FreshTree<'p> {
    place: &'p TargetDirectory,
    scratch: Scratch,
    tree: Root,
}

impl TargetDirectory {
    /// Tells whether the directory is not there, or holds nothing.
    pub fn is_vacant(&self) -> bool {
        self.existing().is_none_or(|existing| {
            let found = existing.survey(Path::new(""), 1);
            found.is_ok_and(|found| found.is_empty())
        })
    }

    /// Begins an empty tree beside the directory.
    pub fn begin_fresh(&self) -> Result<FreshTree<'_>, StageError> {
        let scratch = self.staging_directory()?;
        rustix::fs::mkdirat(scratch.root().descriptor(), TREE, Mode::RWXU)
            .map_err(|error| scratch.root().write_error(Path::new(TREE), error))?;
        let tree = scratch.root().enter(Path::new(TREE))?;
        Ok(FreshTree {
            place: self,
            scratch,
            tree,
        })
    }
}

impl FreshTree<'_> {
    /// Returns the tree as it is so far.
    pub const fn root(&self) -> &Root {
        &self.tree
    }

    /// Begins a file, and makes the directories above it. A name that is taken is an error.
    pub fn file(&self, relative: &Path, executable: bool) -> Result<ScratchFile, WriteError> {
        let mut so_far = PathBuf::new();
        for component in relative.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(name) = component else {
                return Err(self.tree.not_beneath(relative));
            };
            so_far.push(name);
            let (parent, name) = self.tree.parent_of(&so_far)?;
            match rustix::fs::mkdirat(&parent, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.tree.write_error(&so_far, error)),
            }
        }
        let mode = if executable { 0o700 } else { 0o600 };
        let inside = Path::new(TREE).join(relative);
        self.scratch.begin(&inside, NewMode::Exactly(mode))
    }

    /// Puts the tree in its place once the disk has all of it. What stood there stands under the first free name of `aside`, `aside-2` and so
    /// on beside it, which is returned; an empty directory is not kept.
    pub fn put_in_place(self, aside: &OsStr) -> Result<Option<PathBuf>, StageError> {
        self.tree.sync_file_system()?;
        let not_possible = |reason| StageError::NotPossible { reason };
        let Some(above) = &self.place.above else {
            return Err(not_possible("there is no directory above it"));
        };
        let fail = |error: Errno| WriteError::Io {
            path: self.place.path().into(),
            source: error.into(),
        };
        if self.place.below != Path::new("") {
            return self.put_below(above);
        }
        let name = self.place.name.as_os_str();
        let from = opened(self.scratch.root(), Path::new("")).map_err(fail)?;
        let to = opened(above, Path::new("")).map_err(fail)?;
        if self.place.existing().is_none() || self.place.is_vacant() {
            let renamed = if self.place.existing().is_some() {
                // A directory takes the place of an empty one, and of nothing else.
                rustix::fs::renameat(&from, TREE, &to, name)
            } else {
                rename_between(&from, OsStr::new(TREE), &to, name)
            };
            renamed.map_err(|error| self.refused(error))?;
            sync_directory(&to);
            return Ok(None);
        }
        // The whole new tree first gets the name that the old one is to have. Killed here, the old one stands where it stood.
        let kept = (1..=MAX_NAMES)
            .map(|number| numbered(aside, number))
            .find_map(
                |kept| match rename_between(&from, OsStr::new(TREE), &to, &kept) {
                    Ok(()) => Some(Ok(kept)),
                    Err(Errno::EXIST | Errno::NOTEMPTY) => None,
                    Err(error) => Some(Err(self.refused(error))),
                },
            )
            .unwrap_or_else(|| Err(not_possible("no name is free for the old one")))?;
        sync_directory(&to);
        let exchanged = rustix::fs::renameat_with(&to, &kept, &to, name, RenameFlags::EXCHANGE);
        if let Err(error) = exchanged {
            // Back into the scratch directory, which takes it away.
            let _ = rename_between(&to, &kept, &from, OsStr::new(TREE));
            return Err(self.refused(error));
        }
        sync_directory(&to);
        Ok(Some(above.real_path().join(kept)))
    }

    /// Puts the tree where directories above it are missing: they are made around it first.
    fn put_below(&self, above: &Root) -> Result<Option<PathBuf>, StageError> {
        let outer = Path::new("outer");
        let inside = outer.join(&self.place.below);
        let parent = inside.parent().unwrap_or(outer);
        self.scratch.directory(parent)?;
        self.scratch.root().rename_new(Path::new(TREE), &inside)?;
        let fail = |error: Errno| self.scratch.root().write_error(&inside, error);
        let from = opened(self.scratch.root(), Path::new("")).map_err(fail)?;
        let to = opened(above, Path::new("")).map_err(fail)?;
        rename_between(&from, outer.as_os_str(), &to, &self.place.name)
            .map_err(|error| self.refused(error))?;
        sync_directory(&to);
        Ok(None)
    }

    fn refused(&self, error: Errno) -> StageError {
        let reason = match error {
            Errno::BUSY => "it is a mount point",
            Errno::ACCESS | Errno::PERM | Errno::ROFS => "it may not be moved",
            Errno::INVAL | Errno::NOSYS | Errno::XDEV | Errno::OPNOTSUPP => {
                "the file system does not know how"
            }
            Errno::NOENT | Errno::EXIST | Errno::NOTEMPTY => {
                let path = self.place.path().into();
                return WriteError::Changed { path }.into();
            }
            error => {
                return WriteError::Io {
                    path: self.place.path().into(),
                    source: error.into(),
                }
                .into();
            }
        };
        StageError::NotPossible { reason }
    }
}

fn numbered(name: &OsStr, number: u32) -> OsString {
    let mut numbered = name.to_owned();
    if number > 1 {
        numbered.push(format!("-{number}"));
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(place: &TargetDirectory, text: &str) -> Option<PathBuf> {
        let tree = place.begin_fresh().unwrap();
        let mut file = tree.file(Path::new("a/b"), false).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        tree.put_in_place(OsStr::new("home.old")).unwrap()
    }

    fn read(path: &Path) -> Vec<u8> {
        let root = Root::open(path).unwrap();
        root.read(Path::new("a/b"), &crate::ReadPolicy::inside(100))
            .unwrap()
            .bytes
    }

    #[test]
    fn what_stood_there_is_kept_under_another_name_each_time() {
        let above = tempfile::tempdir().unwrap();
        let home = above.path().join("home");
        let place = || TargetDirectory::find(&home).unwrap();
        assert!(place().is_vacant());
        assert_eq!(written(&place(), "one"), None);
        assert!(!place().is_vacant());
        let kept = written(&place(), "two").unwrap();
        assert!(kept.ends_with("home.old"));
        let again = written(&place(), "three").unwrap();
        assert!(again.ends_with("home.old-2"));
        assert_eq!(
            (read(&home), read(&kept), read(&again)),
            (b"three".to_vec(), b"one".to_vec(), b"two".to_vec())
        );
        let names = Root::open(above.path()).unwrap();
        assert_eq!(names.survey(Path::new(""), 10).unwrap().len(), 3);
        assert_eq!(names.permissions(Path::new("home/a")), Some(0o700));
    }

    #[test]
    fn an_empty_directory_and_a_missing_one_are_filled() {
        let above = tempfile::tempdir().unwrap();
        let empty = above.path().join("empty");
        Root::create(&empty).unwrap();
        let deep = above.path().join("x/y/z");
        for home in [empty, deep] {
            let place = TargetDirectory::find(&home).unwrap();
            assert_eq!(written(&place, "new"), None);
            assert_eq!(read(&home), b"new");
        }
    }

    #[test]
    fn a_tree_that_is_dropped_was_never_there() {
        let above = tempfile::tempdir().unwrap();
        let home = above.path().join("home");
        let place = TargetDirectory::find(&home).unwrap();
        let tree = place.begin_fresh().unwrap();
        tree.file(Path::new("a"), true).unwrap();
        assert!(tree.file(Path::new("a"), true).is_err());
        assert!(tree.file(Path::new("../b"), true).is_err());
        assert!(tree.file(Path::new("a/b"), true).is_err());
        drop(tree);
        let names = Root::open(above.path()).unwrap();
        assert_eq!(names.survey(Path::new(""), 10).unwrap(), []);
    }
}
