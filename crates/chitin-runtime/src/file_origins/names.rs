//! Names that were chosen while there was untrusted text: of files, directories and links. A name is text, too.
//!
//! A name is known by itself and by what has it (its inode): it stays known when a directory above it is renamed, and is the owner's
//! when the owner renames what has it. The name of a file that is not empty counts for as long as its content does.

use super::{
    Failure, NAME, WorkspaceFileOrigins, content_of, is_noted, needs_owner, stamp, written,
};
use chitin_guard::{DirectoryEntryKind, ReadPolicy, Root, SurveyEntry};
use chitin_protocol::origin::Origin;
use chitin_tools::rights::OWN_DIRECTORIES;
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Something that a walk over the workspace comes by.
pub(super) struct Seen<'s> {
    pub(super) path: PathBuf,
    pub(super) entry: &'s SurveyEntry,
    /// When the directory that it is in was last changed. Whoever gives something a name changes that.
    pub(super) around: i64,
}

impl Seen<'_> {
    /// Tells whether it is a file that holds something. All empty files are the same.
    pub(super) fn has_content(&self) -> bool {
        has_content(self.entry)
    }
}

fn has_content(entry: &SurveyEntry) -> bool {
    entry.kind == DirectoryEntryKind::File && entry.fingerprint.size > 0
}

/// What is noted of a name.
#[derive(Debug, Serialize, Deserialize)]
struct NameNote {
    /// Where it was, in bytes: names need not be text in any encoding.
    path: Vec<u8>,
}

/// Returns what a name is noted under.
fn key(entry: &SurveyEntry) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&entry.fingerprint.ino.to_le_bytes());
    hasher.update(entry.name.as_bytes());
    let hash = hasher.finalize().to_hex();
    format!("{NAME}{}", &hash[..super::HASH_CHARS])
}

/// The names that were there before untrusted text could make others.
#[derive(Debug, Default)]
pub(super) struct NamesBefore(Mutex<Option<HashSet<String>>>);

impl NamesBefore {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<HashSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Collects the names that are to be noted.
#[derive(Default)]
pub(super) struct NewNames(Vec<(String, PathBuf)>);

impl NewNames {
    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes a name in if it was given since a moment.
    pub(super) fn look(&mut self, seen: &Seen<'_>, since: i64, before: &NamesBefore) {
        // Names that agents have anyway say nothing.
        let is_usual = OWN_DIRECTORIES
            .iter()
            .any(|own| seen.path == Path::new(own));
        if is_usual || seen.around < since || stamp(&seen.entry.fingerprint) < since {
            return;
        }
        let key = key(seen.entry);
        let was_there = |known: &HashSet<String>| known.contains(&key);
        if !before.lock().as_ref().is_some_and(was_there) {
            self.0.push((key, seen.path.clone()));
        }
    }

    pub(super) fn note(self, notes: &Root) -> Result<(), Failure> {
        for (key, path) in self.0 {
            note(notes, &key, path)?;
        }
        Ok(())
    }
}

fn note(notes: &Root, key: &str, path: PathBuf) -> Result<(), Failure> {
    let note = NameNote {
        path: path.into_os_string().into_vec(),
    };
    notes.replace_private(Path::new(key), &serde_json::to_vec(&note)?)?;
    Ok(())
}

/// What directories hold, each looked at once.
struct Surveys<'w> {
    workspace: &'w Root,
    known: HashMap<PathBuf, HashMap<OsString, SurveyEntry>>,
}

impl<'w> Surveys<'w> {
    fn new(workspace: &'w Root) -> Self {
        Self {
            workspace,
            known: HashMap::new(),
        }
    }

    /// Returns what stands at a path; nothing if there is nothing, or nobody can look.
    fn at(&mut self, path: &Path) -> Option<&SurveyEntry> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let entries = match self.known.entry(parent.to_path_buf()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let found = self.workspace.survey(parent, super::MOST_NAMES);
                let found = found.unwrap_or_default().into_iter();
                new.insert(found.map(|entry| (entry.name.clone(), entry)).collect())
            }
        };
        entries.get(name)
    }
}

impl WorkspaceFileOrigins {
    /// Remembers which names there are, unless that is known.
    pub(super) fn remember_names(&self) {
        if self.names.lock().is_some() {
            return;
        }
        let mut found = HashSet::new();
        let walked = Root::open(&self.workspace).map_err(Failure::from);
        let walked = walked.and_then(|workspace| {
            self.each(&workspace, &mut |seen| {
                found.insert(key(seen.entry));
            })
        });
        // Without it, more names count as new than are.
        if walked.is_ok() {
            *self.names.lock() = Some(found);
        }
    }

    /// Finds a name among some beneath a directory that is not the owner's.
    pub(super) fn untrusted_name(&self, at: &Path, shown: &[PathBuf]) -> Option<Origin> {
        let relative = at.strip_prefix(&self.workspace);
        let relative = relative.or_else(|_| at.strip_prefix(&self.named)).ok()?;
        let any = || {
            let mut paths = shown.iter().map(|name| relative.join(name));
            paths
                .find(|path| !needs_owner(path))
                .as_deref()
                .map(written)
        };
        let notes = match self.notes() {
            Ok(None) if !self.is_lost() => return None,
            Ok(Some(notes)) if !self.all_count(&notes) => notes,
            Ok(_) | Err(_) => return any(),
        };
        let Ok(workspace) = Root::open(&self.workspace) else {
            return any();
        };
        let mut surveys = Surveys::new(&workspace);
        let mut looked_at = HashSet::new();
        for name in shown {
            let mut path = relative.to_path_buf();
            for part in name {
                path.push(part);
                if looked_at.insert(path.clone())
                    && let Some(entry) = surveys.at(&path)
                    && is_untrusted(&notes, &workspace, &path, entry)
                {
                    return Some(written(&path));
                }
            }
        }
        None
    }

    /// Finds something of the workspace whose name alone is not the owner's: what has no content of its own. Names that are gone are
    /// cleared away.
    pub(super) fn one_name(
        &self,
        workspace: &Root,
        notes: &Root,
        names: &[OsString],
    ) -> Result<Option<PathBuf>, Failure> {
        let mut surveys = Surveys::new(workspace);
        let mut gone: HashSet<String> = HashSet::new();
        for name in names {
            let read = notes.read(Path::new(name), &ReadPolicy::inside(super::MOST_OF_A_NOTE))?;
            let note: NameNote = serde_json::from_slice(&read.bytes)?;
            let path = PathBuf::from(OsString::from_vec(note.path));
            match surveys
                .at(&path)
                .filter(|entry| OsStr::new(&key(entry)) == name)
            {
                // Its content counts by itself.
                Some(entry) if has_content(entry) => {}
                Some(_) => return Ok(Some(path)),
                None => {
                    gone.insert(name.to_string_lossy().into_owned());
                }
            }
        }
        if gone.is_empty() {
            return Ok(None);
        }
        // A directory above it may have another name now.
        let mut moved = Vec::new();
        self.each(workspace, &mut |seen| {
            if let Some(key) = gone.take(&key(seen.entry)) {
                moved.push((key, seen.path.clone(), seen.has_content()));
            }
        })?;
        for key in gone {
            notes.remove_file(Path::new(&key))?;
        }
        let mut found = None;
        for (key, path, has_content) in moved {
            note(notes, &key, path.clone())?;
            found = found.or((!has_content).then_some(path));
        }
        Ok(found)
    }
}

fn is_untrusted(notes: &Root, workspace: &Root, path: &Path, entry: &SurveyEntry) -> bool {
    if notes.kind(Path::new(&key(entry))).is_none() {
        return false;
    }
    // What the owner wrote into has a name that the owner knows.
    !has_content(entry)
        || match content_of(workspace, path) {
            Ok(content) => content.is_some_and(|content| is_noted(notes, &content)),
            Err(_) => true,
        }
}
