//! Which files of a workspace were written from untrusted text, kept in Chitin's home, for all agents that work there.
//!
//! A file is known by its content: copies and other names of it are the same, and what the owner edits is the owner's again. The
//! directory holds an empty file for each content and a small one for each path that has such content and each name, so that nothing
//! that is noted touches anything else.

mod names;

use crate::setup::{Setup, state_roots};
use crate::{Host, identity};
use chitin_guard::{
    DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root,
    WriteError,
};
use chitin_protocol::origin::{FileOrigin, Origin};
use chitin_protocol::record::FileRefusal;
use chitin_tools::rights::needs_owner;
use chitin_tools::untrusted::{FileOrigins, OwnFiles};
use names::{NamesBefore, NewNames, Seen};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

const DIRECTORY: &str = "origins";
/// How much of a hash names a workspace or a path.
const HASH_CHARS: usize = 32;
/// Begins the name of what stands for a content, and for a path.
const CONTENT: &str = "content-";
const PATH: &str = "path-";
/// Begins the name of what stands for a name.
const NAME: &str = "name-";
/// Stands for all files, where there are too many to tell.
const ALL: &str = "all";
/// How many files are noted. With more of them, all files of the workspace count.
const MOST_FILES: usize = 5_000;
/// How many names are looked at. In a larger workspace, all files count once one was written from untrusted text.
const MOST_NAMES: usize = 200_000;
const MOST_DEPTH: usize = 64;
/// Of larger files the size and the time stand for the content.
const MOST_READ: u64 = 32 << 20;
/// A note is not larger.
const MOST_OF_A_NOTE: u64 = 64 * 1024;
/// Files are stamped by a clock that may be so much behind.
const BEHIND_NS: i64 = 10_000_000;
/// Git's own files. What is in them comes out through commands or a checkout, which write files of their own.
const GIT: &str = ".git";

/// Notes are written and cleared away by one at a time.
static NOTING: Mutex<()> = Mutex::new(());

/// The files of a workspace that are not the owner's.
#[derive(Debug)]
pub(crate) struct WorkspaceFileOrigins {
    directory: PathBuf,
    /// By its real path.
    workspace: PathBuf,
    /// As it was named.
    named: PathBuf,
    excluded: Vec<PathBuf>,
    /// Set when something could not be noted: from then on, all files count.
    is_lost: AtomicBool,
    names: NamesBefore,
}

/// What is noted of a path.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    path: PathBuf,
    content: String,
    size: u64,
}

/// Why files could not be noted.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("there are too many files")]
    TooMany,
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("a note about a file is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
}

impl WorkspaceFileOrigins {
    /// Finds the notes about a workspace beneath Chitin's home. Nothing is opened yet.
    pub(crate) fn new(host: &Host, setup: &Setup, state: &Path, workspace: &Path) -> Self {
        Self::of(state, workspace, state_roots(host, setup.contract()))
    }

    fn of(state: &Path, workspace: &Path, excluded: Vec<PathBuf>) -> Self {
        let named = workspace.to_path_buf();
        let workspace = identity::real_path(workspace);
        let hash = blake3::hash(workspace.as_os_str().as_bytes()).to_hex();
        Self {
            directory: state.join(DIRECTORY).join(&hash[..HASH_CHARS]),
            workspace,
            named,
            excluded,
            is_lost: AtomicBool::new(false),
            names: NamesBefore::default(),
        }
    }

    /// Opens the notes; nothing where there are none.
    fn notes(&self) -> Result<Option<Root>, ReadError> {
        match Root::open(&self.directory) {
            Ok(root) => Ok(Some(root)),
            Err(ReadError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn all_count(&self, notes: &Root) -> bool {
        self.is_lost() || notes.kind(Path::new(ALL)).is_some()
    }

    /// Finds a file of the workspace that is noted and still as it was. What was noted of others is cleared away.
    fn one(&self, notes: &Root) -> Result<Option<PathBuf>, Failure> {
        let workspace = Root::open(&self.workspace)?;
        let listed = notes.list(Path::new(""), &LinkPolicy::Refuse, 4 * MOST_FILES)?;
        let (mut gone, mut names) = (Vec::new(), Vec::new());
        for entry in listed {
            if entry.name.as_bytes().starts_with(NAME.as_bytes()) {
                names.push(entry.name);
                continue;
            }
            if !entry.name.as_bytes().starts_with(PATH.as_bytes()) {
                continue;
            }
            let note = read_note(notes, &entry.name)?;
            match content_of(&workspace, &note.path)? {
                Some(current) if current == note.content => return Ok(Some(note.path)),
                // It is the owner's again.
                Some(_) => notes.remove_file(Path::new(&entry.name))?,
                None => gone.push((entry.name, note)),
            }
        }
        // What is gone may have another name.
        let found = self.moved(&workspace, &gone)?;
        if let Some((path, note)) = &found {
            self::note(notes, path.clone(), note.content.clone(), note.size)?;
        }
        for (name, note) in &gone {
            let is_found = found
                .as_ref()
                .is_some_and(|(_, found)| found.content == note.content);
            if found.is_none() || is_found {
                notes.remove_file(Path::new(name))?;
            }
        }
        match found {
            Some((path, _)) => Ok(Some(path)),
            None => self.one_name(&workspace, notes, &names),
        }
    }

    /// Finds a file that was noted under another name.
    fn moved<'n>(
        &self,
        workspace: &Root,
        gone: &'n [(OsString, Note)],
    ) -> Result<Option<(PathBuf, &'n Note)>, Failure> {
        if gone.is_empty() {
            return Ok(None);
        }
        let mut alike = Vec::new();
        self.each(workspace, &mut |seen| {
            let size = seen.entry.fingerprint.size;
            if seen.has_content() && gone.iter().any(|(_, note)| note.size == size) {
                alike.push(seen.path);
            }
        })?;
        for path in alike {
            let content = content_of(workspace, &path)?;
            let noted = gone.iter().map(|(_, note)| note);
            let mut noted = noted.filter(|note| Some(&note.content) == content.as_ref());
            if let Some(note) = noted.next() {
                return Ok(Some((path, note)));
            }
        }
        Ok(None)
    }

    fn note_changes(&self, since: i64, own: OwnFiles) -> Result<(), Failure> {
        let workspace = Root::open(&self.workspace)?;
        let since = since.saturating_sub(BEHIND_NS);
        let (mut found, mut named) = (Vec::new(), NewNames::default());
        self.each(&workspace, &mut |seen| {
            let counts = own == OwnFiles::TakenDown || !needs_owner(&seen.path);
            let fingerprint = &seen.entry.fingerprint;
            if !counts || stamp(fingerprint) < since {
                return;
            }
            named.look(&seen, since, &self.names);
            if seen.has_content() {
                found.push((seen.path, fingerprint.size));
            }
        })?;
        if found.is_empty() && named.len() == 0 {
            return Ok(());
        }
        let notes = match self.notes()? {
            Some(notes) => notes,
            None => Root::create_private(&self.directory)?,
        };
        let known = notes.list(Path::new(""), &LinkPolicy::Refuse, 4 * MOST_FILES)?;
        if known.len() + 2 * found.len() + named.len() > 3 * MOST_FILES {
            return Err(Failure::TooMany);
        }
        for (path, size) in found {
            if let Some(content) = content_of(&workspace, &path)? {
                note(&notes, path, content, size)?;
            }
        }
        named.note(&notes)
    }

    /// Calls `each` with everything that can be noted.
    fn each(&self, workspace: &Root, each: &mut dyn FnMut(Seen<'_>)) -> Result<(), Failure> {
        let excluded = self.excluded.iter();
        let excluded: Vec<Fingerprint> = excluded
            .filter_map(|path| Fingerprint::of_path(path))
            .collect();
        let mut names = 0;
        let top = Fingerprint::of_path(&self.workspace);
        let top = top.as_ref().map_or(i64::MAX, stamp);
        let mut open = vec![(PathBuf::new(), 0, top)];
        while let Some((at, depth, around)) = open.pop() {
            let entries = match workspace.survey(&at, MOST_NAMES) {
                Ok(entries) => entries,
                Err(ReadError::Refused {
                    reason: FileRefusal::TooLarge,
                    ..
                }) => return Err(Failure::TooMany),
                // It went away, or nobody can look into it: no tool either.
                Err(_) if depth > 0 => continue,
                Err(error) => return Err(error.into()),
            };
            names += entries.len();
            if names > MOST_NAMES || depth > MOST_DEPTH {
                return Err(Failure::TooMany);
            }
            for entry in entries {
                let is_excluded = |one: &Fingerprint| one.is_same_file(&entry.fingerprint);
                if entry.name == GIT || excluded.iter().any(is_excluded) {
                    continue;
                }
                let path = at.join(&entry.name);
                if entry.kind == DirectoryEntryKind::Directory {
                    open.push((path.clone(), depth + 1, stamp(&entry.fingerprint)));
                }
                each(Seen {
                    path,
                    entry: &entry,
                    around,
                });
            }
        }
        Ok(())
    }

    fn count_all(&self) -> Result<(), String> {
        let notes = Root::create_private(&self.directory).map_err(|error| error.to_string())?;
        let kept = notes.replace_private(Path::new(ALL), b"");
        kept.map_err(|error| error.to_string())
    }
}

impl FileOrigins for WorkspaceFileOrigins {
    fn of(&self, path: &Path) -> Option<FileOrigin> {
        let relative = path.strip_prefix(&self.workspace);
        let relative = relative.or_else(|_| path.strip_prefix(&self.named)).ok()?;
        let notes = match self.notes() {
            Ok(None) if !self.is_lost() => return None,
            Ok(Some(notes)) => notes,
            Ok(None) | Err(_) => return Some(FileOrigin::Written),
        };
        // Where links lead is what counts.
        let workspace = Root::open(&self.workspace).ok();
        let end = workspace
            .as_ref()
            .and_then(|root| root.walk(relative, &LinkPolicy::EveryHopInside).ok())?;
        let relative = end.path.strip_prefix(&self.workspace).ok()?;
        // What the agent is made of is the owner's unless it is noted by itself.
        if self.all_count(&notes) && !needs_owner(relative) {
            return Some(FileOrigin::Written);
        }
        let content = workspace.as_ref().map(|root| content_of(root, relative));
        match content.unwrap_or(Ok(None)) {
            Ok(Some(content)) if is_noted(&notes, &content) => Some(FileOrigin::Written),
            Ok(Some(_) | None) => None,
            Err(_) => Some(FileOrigin::Written),
        }
    }

    fn any(&self) -> Option<Origin> {
        let all = || Some(written(Path::new(".")));
        let _noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
        match self.notes() {
            Ok(None) if self.is_lost() => all(),
            Ok(None) => None,
            Ok(Some(notes)) if self.all_count(&notes) => all(),
            Ok(Some(notes)) => match self.one(&notes) {
                Ok(one) => one.as_deref().map(written),
                Err(_) => all(),
            },
            Err(_) => all(),
        }
    }

    fn name(&self, at: &Path, shown: &[PathBuf]) -> Option<Origin> {
        self.untrusted_name(at, shown)
    }

    fn remember(&self) {
        self.remember_names();
    }

    fn moment(&self) -> i64 {
        let now = chitin_guard::stamp_now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        i64::try_from(now).unwrap_or(i64::MAX)
    }

    fn record(&self, since: i64, own: OwnFiles) -> Result<(), String> {
        let _noting = NOTING.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = match self.note_changes(since, own) {
            Ok(()) => Ok(()),
            Err(Failure::TooMany) => self.count_all(),
            Err(error) => Err(error.to_string()),
        };
        noted.inspect_err(|_| self.is_lost.store(true, Ordering::Relaxed))
    }
}

fn written(path: &Path) -> Origin {
    Origin::file(&path.to_string_lossy(), FileOrigin::Written)
}

fn stamp(fingerprint: &Fingerprint) -> i64 {
    let nanoseconds =
        |(seconds, rest): (i64, i64)| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
    nanoseconds(fingerprint.ctime).max(nanoseconds(fingerprint.mtime))
}

/// Returns what stands for the content of a file; nothing if there is no file.
fn content_of(workspace: &Root, path: &Path) -> Result<Option<String>, ReadError> {
    let policy = ReadPolicy {
        links: LinkPolicy::Refuse,
        hardlinks: Hardlinks::Allow,
        max_bytes: MOST_READ,
        oversized: Oversized::Refuse,
    };
    match workspace.read(path, &policy) {
        Ok(read) => Ok(Some(blake3::hash(&read.bytes).to_hex().to_string())),
        Err(ReadError::Refused {
            reason: FileRefusal::TooLarge,
            ..
        }) => {
            let end = workspace.walk(path, &LinkPolicy::Refuse)?;
            let (size, mtime) = (end.fingerprint.size, end.fingerprint.mtime);
            let seen = format!("{size} {mtime:?}");
            Ok(Some(blake3::hash(seen.as_bytes()).to_hex().to_string()))
        }
        // It is gone, or something else has its name now.
        Err(ReadError::Missing { .. } | ReadError::Refused { .. }) => Ok(None),
        Err(error @ ReadError::Io { .. }) => Err(error),
    }
}

fn is_noted(notes: &Root, content: &str) -> bool {
    let name = format!("{CONTENT}{content}");
    notes.kind(Path::new(&name)).is_some()
}

/// Notes a content first: a note of a path without it would say nothing.
fn note(notes: &Root, path: PathBuf, content: String, size: u64) -> Result<(), Failure> {
    let name = format!("{CONTENT}{content}");
    notes.replace_private(Path::new(&name), b"")?;
    let hash = blake3::hash(path.as_os_str().as_bytes()).to_hex();
    let name = format!("{PATH}{}", &hash[..HASH_CHARS]);
    let note = Note {
        path,
        content,
        size,
    };
    notes.replace_private(Path::new(&name), &serde_json::to_vec(&note)?)?;
    Ok(())
}

fn read_note(notes: &Root, name: &OsStr) -> Result<Note, Failure> {
    let read = notes.read(Path::new(name), &ReadPolicy::inside(MOST_OF_A_NOTE))?;
    Ok(serde_json::from_slice(&read.bytes)?)
}

#[cfg(test)]
#[path = "file_origins_tests.rs"]
mod tests;
