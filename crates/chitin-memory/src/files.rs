//! Which files are memory, and where they are read from.
//!
//! Links are never followed, and everything goes through the guard. What is left out is told.

mod extra;

pub use extra::{ExtraPath, relative};

use crate::compat;
use chitin_contract::MemoryFileRules;
use chitin_guard::{
    DirectoryEntryKind, FileRead, Fingerprint, ReadError, ReadPolicy, Root, SurveyEntry,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories deeper than this are not looked into.
const DEEPEST: usize = 32;

/// No more files than this are memory.
const MOST_FILES: usize = 100_000;

/// No more of what is left out is told by name.
const MOST_LEFT_OUT: usize = 1_000;

/// A file that is memory.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    /// Its path relative to the workspace, with `/`; one outside begins with `../`.
    pub path: String,
    /// What tells whether it has changed.
    pub fingerprint: Fingerprint,
    /// Its size in bytes.
    pub size: u64,
    place: Place,
}

/// Where a file is read from.
#[derive(Debug, Clone)]
enum Place {
    Workspace,
    Outside { root: Arc<Root>, name: PathBuf },
}

impl MemoryFile {
    /// Reads the file.
    pub fn read(&self, root: &Root, policy: &ReadPolicy) -> Result<FileRead, ReadError> {
        match &self.place {
            Place::Workspace => root.read(Path::new(&self.path), policy),
            Place::Outside { root, name } => root.read(name, policy),
        }
    }
}

/// The memory of a workspace.
#[derive(Debug, Default)]
pub struct MemoryFiles {
    /// The files: those in the workspace itself, those of the directory, the extra ones; each once.
    pub files: Vec<MemoryFile>,
    /// What is not among them and why: the first thousand.
    pub left_out: Vec<SkippedFile>,
    /// How much is left out in all.
    pub left_out_count: usize,
}

/// Something that is not read as memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path, as far as it can be spelled.
    pub path: String,
    /// Why it is left out.
    pub why: Omission,
}

/// Why something is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// It is a link.
    Link,
    /// It is in too many directories.
    TooDeep,
    /// There are too many files.
    TooMany,
    /// Its name is not text.
    NotText,
    /// Its names cannot be listed.
    Unreadable,
}

impl Omission {
    /// Returns the reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Link => "links are not followed",
            Self::TooDeep => "it lies in too many directories",
            Self::TooMany => "there are too many files",
            Self::NotText => "its name is not text",
            Self::Unreadable => "it cannot be listed",
        }
    }
}

/// Lists the memory of a workspace.
pub fn list(root: &Root, extra: &[ExtraPath], rules: &MemoryFileRules) -> MemoryFiles {
    let mut lister = Lister {
        rules,
        seen: HashSet::new(),
        listing: MemoryFiles::default(),
    };
    lister.root_files(root);
    let directory = Path::new(MemoryFileRules::DIRECTORY);
    match root.kind(directory) {
        Some(DirectoryEntryKind::Directory) => lister.walk(root, None, directory.into()),
        Some(DirectoryEntryKind::Link) => {
            lister.leave_out(MemoryFileRules::DIRECTORY, Omission::Link);
        }
        Some(DirectoryEntryKind::File | DirectoryEntryKind::Other) | None => {}
    }
    for extra in extra {
        lister.extra(root, extra);
    }
    lister.listing
}

struct Lister<'r> {
    rules: &'r MemoryFileRules,
    seen: HashSet<String>,
    listing: MemoryFiles,
}

/// A directory that is walked: not the workspace, and what its paths begin with.
type Outside<'o> = (&'o Arc<Root>, &'o str);

impl Lister<'_> {
    /// Takes in the files of the workspace itself.
    fn root_files(&mut self, root: &Root) {
        let Ok(entries) = root.survey(Path::new(""), MOST_FILES) else {
            return self.leave_out(".", Omission::Unreadable);
        };
        for name in self.rules.root_files {
            let found = entries.iter().find(|entry| entry.name == *name);
            let Some(found) = found else { continue };
            // Two spellings may be two names of one file.
            let is_known = |file: &MemoryFile| file.fingerprint.is_same_file(&found.fingerprint);
            if self.listing.files.iter().any(is_known) {
                continue;
            }
            match found.kind {
                DirectoryEntryKind::File => self.take((*name).to_owned(), found, Place::Workspace),
                DirectoryEntryKind::Link => self.leave_out(name, Omission::Link),
                DirectoryEntryKind::Directory | DirectoryEntryKind::Other => {}
            }
        }
    }

    fn extra(&mut self, root: &Root, extra: &ExtraPath) {
        let outside = extra.root().map(|root| (root, extra.path()));
        let within = outside.map_or(root, |(root, _)| root);
        let start = match outside {
            Some(_) => PathBuf::new(),
            None => extra.path().into(),
        };
        if extra.is_directory() {
            return self.walk(within, outside, start);
        }
        let name = extra.name();
        let parent = match outside {
            Some(_) => Path::new(""),
            None => start.parent().unwrap_or(Path::new("")),
        };
        let Ok(entries) = within.survey(parent, MOST_FILES) else {
            return self.leave_out(extra.path(), Omission::Unreadable);
        };
        let is_markdown = name.ends_with(compat::MARKDOWN_SUFFIX);
        let found = entries
            .iter()
            .find(|entry| entry.name == name && entry.kind == DirectoryEntryKind::File);
        if let Some(found) = found.filter(|_| is_markdown) {
            let place = place(outside, Path::new(name));
            self.take(extra.path().to_owned(), found, place);
        }
    }

    /// Takes in all Markdown below a directory.
    fn walk(&mut self, root: &Root, outside: Option<Outside<'_>>, start: PathBuf) {
        let mut open = vec![(start, 0)];
        while let Some((directory, depth)) = open.pop() {
            let Ok(mut entries) = root.survey(&directory, MOST_FILES) else {
                self.leave_out(&shown(outside, &directory), Omission::Unreadable);
                continue;
            };
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            let mut below = Vec::new();
            for entry in &entries {
                let path = directory.join(&entry.name);
                let shown = shown(outside, &path);
                let Some(name) = entry.name.to_str() else {
                    self.leave_out(&shown, Omission::NotText);
                    continue;
                };
                let is_markdown = name.ends_with(compat::MARKDOWN_SUFFIX);
                match entry.kind {
                    DirectoryEntryKind::File if is_markdown => {
                        self.take(shown, entry, place(outside, &path));
                    }
                    DirectoryEntryKind::Directory if name == MemoryFileRules::SKIPPED_DIRECTORY => {
                    }
                    DirectoryEntryKind::Directory if depth + 1 >= DEEPEST => {
                        self.leave_out(&shown, Omission::TooDeep);
                    }
                    DirectoryEntryKind::Directory => below.push((path, depth + 1)),
                    DirectoryEntryKind::Link => self.leave_out(&shown, Omission::Link),
                    DirectoryEntryKind::File | DirectoryEntryKind::Other => {}
                }
            }
            open.extend(below.into_iter().rev());
        }
    }

    fn take(&mut self, path: String, found: &SurveyEntry, place: Place) {
        if self.rules.never.contains(&path.as_str()) || !self.seen.insert(path.clone()) {
            return;
        }
        if self.listing.files.len() >= MOST_FILES {
            return self.leave_out(&path, Omission::TooMany);
        }
        self.listing.files.push(MemoryFile {
            path,
            fingerprint: found.fingerprint,
            size: found.fingerprint.size,
            place,
        });
    }

    fn leave_out(&mut self, path: &str, why: Omission) {
        self.listing.left_out_count += 1;
        if self.listing.left_out.len() < MOST_LEFT_OUT {
            self.listing.left_out.push(SkippedFile {
                path: path.to_owned(),
                why,
            });
        }
    }
}

fn place(outside: Option<Outside<'_>>, path: &Path) -> Place {
    match outside {
        Some((root, _)) => Place::Outside {
            root: Arc::clone(root),
            name: path.to_owned(),
        },
        None => Place::Workspace,
    }
}

/// Returns a path as it is shown: relative to the workspace.
fn shown(outside: Option<Outside<'_>>, path: &Path) -> String {
    match outside {
        Some((_, prefix)) => format!("{prefix}/{}", path.to_string_lossy()),
        None => path.to_string_lossy().into_owned(),
    }
}
