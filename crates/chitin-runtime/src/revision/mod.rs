//! A workspace as of a git revision, without touching the work tree.
//!
//! In: a directory in a repository, and what the user calls a revision. Out: a private copy of what a loader may ask for,
//! gone when dropped. The work tree, the index and the refs are only looked at. `git` reads the objects; nothing that the
//! repository names is run: no hook, no filter, no monitor, no fetch. So files are the bytes that were committed: where
//! attributes convert line endings or a filter stores content elsewhere, the copy has what is in the repository.

mod choose;
mod commit;
mod compat;
mod git;
#[cfg(test)]
mod hostile_tests;
mod links;
mod place;
#[cfg(test)]
mod revision_tests;
mod tree;

use crate::Host;
use crate::WorkspaceCopy;
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::shown;
use chitin_guard::{Root, Scratch, WriteError, WriteOutcome};
use choose::Choice;
use git::{Git, GitOutput, Objects};
use links::Original;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use tree::{EntryKind, Tree};

/// The most files and links that are copied.
const MAX_COPIED: usize = 5_000;
/// The largest file that is copied: far above every contract's bound, so that a file above that has its true size.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// The most that is copied in all.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// No file system takes a longer link.
const MAX_LINK_BYTES: u64 = 4095;
/// The longest revision that is asked for.
const MAX_REVISION_BYTES: usize = 1024;
/// How many paths a note names.
const MAX_NAMED: usize = 5;
/// How many digits of a commit are shown.
const SHORT: usize = 10;

/// A workspace as of a commit, unfolded in a private directory that is removed on drop.
#[derive(Debug)]
pub struct Revision {
    /// The commit, in full.
    pub commit: String,
    /// The commit, as people write it.
    pub short: String,
    /// The workspace as of the commit.
    pub copy: WorkspaceCopy,
    _scratch: Scratch,
}

impl Revision {
    /// Unfolds the workspace in `directory` as of `revision`. `root_files` are the user's own files in the root.
    pub fn open(
        host: &Host,
        directory: &Path,
        revision: &str,
        root_files: &[String],
    ) -> Result<Self, RuntimeError> {
        let workspace = Root::open(directory).map_err(|error| {
            let directory = shown(directory, host);
            RuntimeError::new(ErrorKind::User, format!("`{directory}` cannot be opened."))
                .caused_by(error)
        })?;
        let git = Git::find(host, directory)?;
        let prefix = prefix(&git, host, directory)?;
        let commit = commit::find(&git, revision)?;
        let tree = workspace_tree(&git, &commit, prefix)?.ok_or_else(|| {
            let revision = plain(revision, '\u{fffd}');
            let directory = shown(directory, host);
            RuntimeError::new(
                ErrorKind::Usage,
                format!("`{directory}` does not exist in `{revision}`."),
            )
            .hint("name a revision that has the directory")
        })?;
        let original = Original {
            given: directory,
            real: workspace.real_path(),
        };
        let tree = Tree::list(&git, &tree)?;
        let scratch = place::make(host, &original)?;
        let mut copy = Copy {
            objects: git.objects()?,
            scratch: &scratch,
            copied: 0,
            bytes: 0,
            twice: 0,
        };
        let texts = copy.link_texts(&tree, &original)?;
        let choice = Choice::new(&tree, &texts, root_files);
        copy.everything(&tree, &texts, &choice)?;
        let notes = notes(&tree, &choice, copy.twice);
        drop(copy);
        Ok(Self {
            short: commit.chars().take(SHORT).collect(),
            commit,
            copy: WorkspaceCopy {
                root: scratch.root().path().to_path_buf(),
                real: scratch.root().real_path().to_path_buf(),
                notes,
            },
            _scratch: scratch,
        })
    }
}

/// Returns where in its repository a directory is.
fn prefix(git: &Git<'_>, host: &Host, directory: &Path) -> Result<OsString, RuntimeError> {
    let of_git = directory.iter().any(|part| part == ".git");
    let directory = plain(&shown(directory, host), '\u{fffd}');
    let outside = || {
        RuntimeError::new(
            ErrorKind::Usage,
            format!("`{directory}` is not in a git repository."),
        )
        .hint("compare with a directory or a contract instead")
    };
    let no_work_tree = || {
        RuntimeError::new(
            ErrorKind::Usage,
            format!("`{directory}` is not in the work tree of its git repository."),
        )
    };
    match git.ask(["rev-parse", "--is-inside-work-tree", "--show-prefix"])? {
        GitOutput::Yes(said) => {
            let said = said.strip_prefix(b"true\n").ok_or_else(no_work_tree)?;
            let prefix = said.strip_suffix(b"\n").unwrap_or(said);
            let prefix = prefix.strip_suffix(b"/").unwrap_or(prefix);
            Ok(OsString::from_vec(prefix.to_vec()))
        }
        GitOutput::No(complaint) if complaint.starts_with("not a git repository") => Err(outside()),
        // Releases before 2.44 take the insides of `.git` for a bare repository.
        GitOutput::No(complaint)
            if of_git && complaint.starts_with("cannot use bare repository") =>
        {
            Err(no_work_tree())
        }
        GitOutput::No(complaint) => Err(RuntimeError::new(
            ErrorKind::Usage,
            format!("Could not use the git repository of `{directory}`."),
        )
        .caused_by(complaint)),
    }
}

/// Returns the tree object of the workspace in a commit, if it was there.
fn workspace_tree(
    git: &Git<'_>,
    commit: &str,
    prefix: OsString,
) -> Result<Option<String>, RuntimeError> {
    let mut spelled = OsString::from(format!("{commit}:"));
    spelled.push(prefix);
    let question = ["rev-parse", "--verify", "--end-of-options"].map(OsString::from);
    let found = match git.ask(question.into_iter().chain([spelled]))? {
        GitOutput::Yes(said) => commit::object_id(&said),
        GitOutput::No(_) => None,
    };
    let Some(found) = found else { return Ok(None) };
    // A file or a submodule may have stood there.
    match git.ask(["cat-file", "-t", &found])? {
        GitOutput::Yes(kind) if kind == b"tree\n" => Ok(Some(found)),
        GitOutput::Yes(_) | GitOutput::No(_) => Ok(None),
    }
}

/// A copy in the making.
struct Copy<'a> {
    objects: Objects<'a>,
    scratch: &'a Scratch,
    copied: usize,
    bytes: u64,
    /// Names that a commit has twice, which only a forged one has, or that the file system takes for one.
    twice: usize,
}

impl Copy<'_> {
    /// Reads every link and spells its text for the copy. What no file system could hold is left out.
    fn link_texts(
        &mut self,
        tree: &Tree,
        original: &Original<'_>,
    ) -> Result<BTreeMap<PathBuf, PathBuf>, RuntimeError> {
        let mut texts = BTreeMap::new();
        for (path, entry) in tree.of_kind(EntryKind::Link) {
            if entry.size.is_some_and(|size| size > MAX_LINK_BYTES) {
                continue;
            }
            let text = self.read(tree, path)?;
            if !text.is_empty() && !text.contains(&0) {
                let text = PathBuf::from(OsString::from_vec(text));
                texts.insert(path.to_path_buf(), original.respelled(path, &text));
            }
        }
        Ok(texts)
    }

    fn everything(
        &mut self,
        tree: &Tree,
        texts: &BTreeMap<PathBuf, PathBuf>,
        choice: &Choice,
    ) -> Result<(), RuntimeError> {
        for directory in &choice.directories {
            self.scratch.directory(directory).map_err(unwritten)?;
        }
        // Links come last, so that nothing could be written through one even if the guard let it.
        for file in &choice.files {
            let bytes = self.read(tree, file)?;
            self.with_parents(file)?;
            let written = self.scratch.file(file, &bytes).map_err(unwritten)?;
            self.count(written);
        }
        for (link, text) in texts {
            self.with_parents(link)?;
            let written = self.scratch.link(link, text).map_err(unwritten)?;
            self.count(written);
        }
        Ok(())
    }

    fn read(&mut self, tree: &Tree, path: &Path) -> Result<Vec<u8>, RuntimeError> {
        let shown = plain(&path.to_string_lossy(), '\u{fffd}');
        let Some((id, size)) = tree.get(path).and_then(|e| Some((&e.id, e.size?))) else {
            return Err(RuntimeError::new(
                ErrorKind::User,
                format!("`{shown}` of that revision is not in this clone."),
            )
            .hint("fetch the revision with its files first"));
        };
        self.copied += 1;
        self.bytes = self.bytes.saturating_add(size);
        let limit = if size > MAX_FILE_BYTES {
            format!("`{shown}` is larger than {MAX_FILE_BYTES} bytes in that revision.")
        } else if self.bytes > MAX_BYTES {
            format!("The workspace's files are larger than {MAX_BYTES} bytes in that revision.")
        } else if self.copied > MAX_COPIED {
            format!("The workspace has more than {MAX_COPIED} files to look at in that revision.")
        } else {
            return self.objects.read(id, size);
        };
        Err(RuntimeError::new(ErrorKind::User, limit).hint("name a revision before it grew"))
    }

    fn with_parents(&self, path: &Path) -> Result<(), RuntimeError> {
        match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => {
                self.scratch.directory(parent).map_err(unwritten)
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, written: WriteOutcome) {
        match written {
            WriteOutcome::Created => {}
            WriteOutcome::AlreadyThere => self.twice += 1,
        }
    }
}

fn unwritten(error: WriteError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, "Could not unpack the git revision.").caused_by(error)
}

/// Says what the copy does not show as it was.
fn notes(tree: &Tree, choice: &Choice, twice: usize) -> Vec<String> {
    let submodules: Vec<&Path> = tree.of_kind(EntryKind::Submodule).map(|e| e.0).collect();
    let leaving: Vec<&Path> = choice.leaving.iter().map(PathBuf::as_path).collect();
    let mut notes = Vec::new();
    if !submodules.is_empty() {
        let names = named(&submodules);
        notes.push(format!(
            "Submodules of the revision are not included: {names}."
        ));
    }
    if !leaving.is_empty() {
        let names = named(&leaving);
        notes.push(format!(
            "Links that lead out of the workspace, to what is there today if they are followed at all: {names}."
        ));
    }
    if twice + tree.crooked > 0 {
        let count = twice + tree.crooked;
        notes.push(format!(
            "Invalid paths of the revision are not included: {count}."
        ));
    }
    notes
}

fn named(paths: &[&Path]) -> String {
    let shown = paths.iter().take(MAX_NAMED);
    let mut names: Vec<String> = shown
        .map(|path| format!("`{}`", plain(&path.to_string_lossy(), '\u{fffd}')))
        .collect();
    if paths.len() > MAX_NAMED {
        names.push(format!("{} more", paths.len() - MAX_NAMED));
    }
    names.join(", ")
}
