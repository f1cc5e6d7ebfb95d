//! Paths that a setting adds to the memory.

use chitin_guard::{DirectoryEntryKind, Root};
use chitin_protocol::text::trim_js;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// A file or a directory that a setting adds to the memory, inside the workspace or not.
#[derive(Debug, Clone)]
pub struct ExtraPath {
    /// Relative to the workspace, with `/`; empty is the workspace itself.
    path: String,
    is_directory: bool,
    /// For what is outside: the directory itself, or the one that the file is in.
    root: Option<Arc<Root>>,
}

impl ExtraPath {
    /// Finds what settings name. What is not there, or is a link, adds nothing.
    pub fn find<S: AsRef<str>>(root: &Root, settings: &[S]) -> Vec<Self> {
        settings
            .iter()
            .map(|setting| trim_js(setting.as_ref()))
            .filter(|setting| !setting.is_empty())
            .filter_map(|setting| Self::at(root, relative(root, Path::new(setting))?))
            .collect()
    }

    fn at(root: &Root, path: String) -> Option<Self> {
        if path.is_empty() {
            return Some(Self {
                path,
                is_directory: true,
                root: None,
            });
        }
        let is_outside = Path::new(&path).starts_with("..");
        let (kind, outside) = if is_outside {
            let full = normal(&root.real_path().join(&path));
            let parent = Root::open(full.parent()?).ok()?;
            let kind = parent.kind(Path::new(full.file_name()?))?;
            let outside = match kind {
                DirectoryEntryKind::Directory => Root::open(&full).ok()?,
                DirectoryEntryKind::File | DirectoryEntryKind::Link | DirectoryEntryKind::Other => {
                    parent
                }
            };
            (kind, Some(Arc::new(outside)))
        } else {
            (root.kind(Path::new(&path))?, None)
        };
        let is_directory = match kind {
            DirectoryEntryKind::Directory => true,
            DirectoryEntryKind::File => false,
            DirectoryEntryKind::Link | DirectoryEntryKind::Other => return None,
        };
        Some(Self {
            path,
            is_directory,
            root: outside,
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) const fn is_directory(&self) -> bool {
        self.is_directory
    }

    pub(super) const fn root(&self) -> Option<&Arc<Root>> {
        self.root.as_ref()
    }

    /// Returns the last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Tells whether a path, relative to the workspace, is this file or in this directory.
    pub(crate) fn holds(&self, relative: &str) -> bool {
        if !self.is_directory {
            return relative == self.path;
        }
        if self.path.is_empty() {
            return !relative.starts_with("../");
        }
        relative
            .strip_prefix(&self.path)
            .is_some_and(|rest| rest.starts_with('/'))
    }

    /// Returns where a path that this holds is read from, if that is outside the workspace.
    pub(crate) fn outside(&self, relative: &str) -> Option<(&Root, PathBuf)> {
        let root = self.root.as_deref()?;
        let name = if self.is_directory {
            relative.strip_prefix(&self.path)?.trim_start_matches('/')
        } else {
            self.name()
        };
        Some((root, name.into()))
    }
}

/// Returns a path relative to the workspace, with `/` and without detours; `None` if it is not text or leads nowhere. Nothing is
/// looked up: the name alone decides.
pub fn relative(root: &Root, path: &Path) -> Option<String> {
    let full = normal(&root.path().join(path));
    if let Ok(inside) = full.strip_prefix(normal(root.path())) {
        return spelled(inside);
    }
    let real = root.real_path();
    let full = normal(&real.join(path));
    let shared = full
        .components()
        .zip(real.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = real.components().skip(shared).map(|_| Component::ParentDir);
    let down = full.components().skip(shared);
    spelled(&up.chain(down).collect::<PathBuf>())
}

fn spelled(path: &Path) -> Option<String> {
    path.components()
        .map(|part| OsStr::to_str(part.as_os_str()))
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.join("/"))
        .filter(|path| !path.contains('\0'))
}

/// Returns a path without `.` and `..`, as far as there is something to go up from.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match normal.components().next_back() {
                Some(Component::Normal(_)) => {
                    normal.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                Some(Component::ParentDir | Component::CurDir) | None => normal.push(".."),
            },
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}
