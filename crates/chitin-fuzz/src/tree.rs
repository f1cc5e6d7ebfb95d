//! Random trees: files, directories, links, second names and FIFOs, planted by a recipe.
#![expect(clippy::disallowed_methods, reason = "hostile trees are built by hand")]

use crate::recipe::Recipe;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// More entries than this are not planted.
const MAX_ENTRIES: usize = 24;

/// The words that a tree is made of.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// Names of entries.
    pub names: &'a [&'a str],
    /// What links say; `{BASE}` stands for the directory that holds the tree.
    pub targets: &'a [&'a str],
    /// What files hold.
    pub contents: &'a [&'a [u8]],
    /// Files that second names are given to.
    pub twins: &'a [&'a Path],
}

/// Plants a tree into `directory`, which `base` holds. Returns the second names that were given.
pub fn plant(recipe: &mut Recipe<'_>, base: &Path, directory: &Path, words: &Words<'_>) -> usize {
    let mut directories = vec![directory.to_path_buf()];
    let mut second_names = 0;
    for _ in 0..MAX_ENTRIES {
        if recipe.is_done() {
            break;
        }
        let kind = recipe.byte() % 12;
        let parent = &directories[usize::from(recipe.byte()) % directories.len()];
        let path = parent.join(recipe.pick(words.names));
        // An entry that cannot be planted, because the name is taken, is no entry.
        match kind {
            0..=3 => {
                let _ = write_new(&path, recipe.pick(words.contents));
            }
            4..=6 => {
                if fs::create_dir(&path).is_ok() {
                    directories.push(path);
                }
            }
            7..=9 => {
                let target = match recipe.byte() % 3 {
                    0 => recipe.path(words.names),
                    1 => recipe.pick(words.targets).to_owned(),
                    _ => {
                        let start = recipe.pick(words.targets).to_owned();
                        format!("{start}/{}", recipe.path(words.names))
                    }
                };
                let _ = symlink(target.replace("{BASE}", &base.to_string_lossy()), &path);
            }
            10 => {
                if fs::hard_link(recipe.pick(words.twins), &path).is_ok() {
                    second_names += 1;
                }
            }
            _ => {
                let mode = rustix::fs::Mode::from_raw_mode(0o600);
                let fifo = rustix::fs::FileType::Fifo;
                let _ = rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0);
            }
        }
    }
    second_names
}

/// Writes a file that is not there yet. What is there is never opened: it may be a FIFO.
pub fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::File::create_new(path)?.write_all(bytes)
}

/// Makes the directories above a path, as far as that goes.
pub fn make_parent(path: &Path) {
    let _ = path.parent().map(fs::create_dir_all);
}

/// Makes a directory with a file in it.
pub fn write_in(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = directory.join(name);
    let parent = path.parent().unwrap_or(directory);
    fs::create_dir_all(parent).expect("a directory of our own can be made");
    fs::write(&path, bytes).expect("a file of our own can be written");
    path
}
