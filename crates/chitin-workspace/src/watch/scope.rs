//! Which paths beneath the root matter.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Directories that hold other people's files, many of them, and nothing that an agent reads.
const HIDDEN: [&str; 2] = [".git", "node_modules"];

/// The root and the directories that are followed beneath it.
#[derive(Debug)]
pub(super) struct Scope {
    directories: Vec<PathBuf>,
}

impl Scope {
    /// Takes the directories to follow; fails with the first one that is no plain path beneath the root.
    pub(super) fn new(directories: &[PathBuf]) -> Result<Self, PathBuf> {
        for directory in directories {
            let plain = |component| matches!(component, Component::Normal(_));
            if directory.as_os_str().is_empty() || !directory.components().all(plain) {
                return Err(directory.clone());
            }
        }
        Ok(Self {
            directories: directories.to_vec(),
        })
    }

    /// Tells whether a directory at this path is followed: it, something above it or something beneath it was asked for.
    pub(super) fn follows(&self, relative: &Path) -> bool {
        relative.as_os_str().is_empty()
            || (!is_hidden(relative)
                && self.directories.iter().any(|directory| {
                    relative.starts_with(directory) || directory.starts_with(relative)
                }))
    }

    /// Tells whether a change at this path is worth an event.
    pub(super) fn reports(&self, relative: &Path) -> bool {
        let in_root = relative.components().nth(1).is_none();
        !relative.file_name().is_none_or(is_dropping)
            && !is_hidden(relative)
            && (in_root || self.follows(relative))
    }
}

fn is_hidden(relative: &Path) -> bool {
    relative
        .iter()
        .any(|name| HIDDEN.iter().any(|hidden| name == *hidden))
}

/// Tells whether a file of this name belongs to an editor, or to a write of our own that is not finished.
pub(super) fn is_dropping(name: &OsStr) -> bool {
    let is_unfinished = chitin_guard::is_leftover_name(name);
    let name = name.as_encoded_bytes();
    name == b"4913"
        || name.ends_with(b"~")
        || [".swp", ".swo", ".swx"]
            .iter()
            .any(|end| name.ends_with(end.as_bytes()))
        || name.starts_with(b".#")
        || (name.starts_with(b"#") && name.ends_with(b"#") && name.len() > 1)
        || is_unfinished
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn droppings_are_known_and_real_files_are_not_among_them() {
        let kept = [
            "SOUL.md",
            ".tmp",
            "notes.tmp",
            ".a.tmp",
            ".a.1-2.tmp",
            ".a.x-1.chitin.tmp",
            "#",
            "4913.md",
            "swp",
            ".gitignore",
        ];
        for name in kept {
            assert!(!is_dropping(name.as_ref()), "{name}");
        }
        let dropped = [
            ".SOUL.md.swp",
            "SOUL.md~",
            "4913",
            ".SOUL.md.4242-0.chitin.tmp",
            ".a.1-2.chitin.tmp",
            "#SOUL.md#",
            ".#SOUL.md",
        ];
        for name in dropped {
            assert!(is_dropping(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn the_root_is_followed_flat_and_the_named_directories_deep() {
        let scope = Scope::new(&["skills".into(), ".agents/skills".into()]).unwrap();
        let reports = |path: &str| scope.reports(Path::new(path));
        assert!(reports("SOUL.md") && reports("projects") && reports("skills/a/b/SKILL.md"));
        assert!(reports(".agents/skills") && !reports(".agents/other/x"));
        assert!(!reports("projects/x") && !reports(".git") && !reports("skills/node_modules/x"));
        assert!(!scope.follows(Path::new("skills-old")) && scope.follows(Path::new(".agents")));
        assert!(Scope::new(&["../out".into()]).is_err() && Scope::new(&["/abs".into()]).is_err());
    }
}
