//! Paths by their text alone, without a look at the disk.

use std::path::{Component, Path, PathBuf};

/// Takes `.` and `..` out of a path by its text alone.
pub fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                result.push(component);
            }
        }
    }
    result
}
