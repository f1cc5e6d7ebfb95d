//! Which part of a revision is copied: what a loader, its extra files and skills may ask for, and nothing else.

use super::compat::{SKILL_DIRECTORIES, SKILL_FILE, STATE_FILE};
use super::links::{Lead, follow};
use super::tree::{EntryKind, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How far below a skill directory empty directories are kept: they count against limits. No contract looks deeper.
const SKILL_DEPTH: usize = 8;

/// What is copied. Every link is, beside this.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) directories: BTreeSet<PathBuf>,
    pub(super) files: BTreeSet<PathBuf>,
    /// Links that something may read and that lead out of the workspace.
    pub(super) leaving: Vec<PathBuf>,
}

impl Choice {
    /// Chooses from a tree whose links have these texts.
    pub(super) fn new(
        tree: &Tree,
        texts: &BTreeMap<PathBuf, PathBuf>,
        root_files: &[String],
    ) -> Self {
        let mut choice = Self::default();
        for (path, _) in tree.of_kind(EntryKind::File) {
            if is_read(path, root_files) {
                choice.files.insert(path.to_path_buf());
            }
        }
        for path in tree.paths() {
            for directory in path.ancestors().skip(1) {
                if is_seen(directory, root_files) {
                    choice.directories.insert(directory.to_path_buf());
                }
            }
        }
        for link in texts.keys() {
            choice.follow(tree, texts, link, root_files);
        }
        choice
    }

    /// Takes what a link leads to: a directory always, a file when the link stands where a file is read.
    fn follow(
        &mut self,
        tree: &Tree,
        texts: &BTreeMap<PathBuf, PathBuf>,
        link: &Path,
        root_files: &[String],
    ) {
        let read = is_read(link, root_files);
        let end = match follow(texts, link) {
            Lead::Inside(end) => end,
            Lead::Outside => {
                if read || is_seen(link, root_files) {
                    self.leaving.push(link.to_path_buf());
                }
                return;
            }
            Lead::Nowhere => return,
        };
        if tree.is_directory(&end) {
            self.directories.insert(end);
        } else if read && tree.get(&end).is_some_and(|e| e.kind == EntryKind::File) {
            self.files.insert(end);
        }
    }
}

/// Tells whether somebody may read a file of that path.
fn is_read(path: &Path, root_files: &[String]) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let at_root = path.iter().count() == 1;
    is_contract_name(name)
        || name == SKILL_FILE
        || (at_root && (is_markdown(name) || root_files.iter().any(|file| name == file.as_str())))
        || path == Path::new(STATE_FILE)
        || SKILL_DIRECTORIES
            .iter()
            .any(|skills| Path::new(skills).starts_with(path))
}

/// Tells whether somebody may notice that a directory of that path is there, whatever it holds.
fn is_seen(path: &Path, root_files: &[String]) -> bool {
    let depth = path.iter().count();
    depth == 1
        || is_read(path, root_files)
        || SKILL_DIRECTORIES.iter().any(|skills| {
            let skills = Path::new(skills);
            path.starts_with(skills) && depth <= skills.iter().count() + SKILL_DEPTH
        })
}

/// Tells whether any contract loads a file of that name: the same copy serves all of them.
fn is_contract_name(name: &OsStr) -> bool {
    chitin_contract::ALL
        .iter()
        .flat_map(|contract| contract.loading.files)
        .any(|file| name == file.name)
}

fn is_markdown(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() > 3 && name[name.len() - 3..].eq_ignore_ascii_case(b".md")
}
