//! Writing kept state: appended in one write, or replaced in one step.
//!
//! Adding is an append of one whole line, so that two processes never lose each other's entries. Removing and promoting
//! replace a file in one step, so that a crash leaves the old bytes or the new ones. One writer serialises its own calls;
//! let only one process at a time remove from the same memory.

use super::conversation::ConversationMessage;
use super::entry::{Stamp, StateEntry};
use super::reader::{Owner, StateError, conversation_file, read_text};
use crate::adapter::text::{is_blank, lines};
use chitin_guard::{LinkPolicy, ReadError, Root};
use jiff::civil::Date;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most bytes of one line that is added.
const MAX_LINE: usize = 1024 * 1024;
/// The most files that are remembered as ended; beyond, they are simply looked at again.
const MAX_REMEMBERED: usize = 4096;
/// The most users of a workspace, and days of a user.
const MAX_NAMES: usize = 100_000;

/// Writes what is kept beneath one directory.
#[derive(Debug)]
pub struct StateWriter {
    root: Root,
    /// Held while a file is changed: two calls must not start from the same old text. Inside are the files that are
    /// known to end with a line end, so that a long conversation is not read again for every message.
    ended: Mutex<HashSet<PathBuf>>,
}

/// What a promotion did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promotion {
    /// The note is a fact now, and no note any more.
    Moved,
    /// There is no such note.
    NoSuchNote,
}

impl StateWriter {
    /// Opens a state directory, which is made if it is not there.
    pub fn create(directory: &Path) -> Result<Self, StateError> {
        let (root, _) = Root::create(directory)?;
        Ok(Self {
            root,
            ended: Mutex::new(HashSet::new()),
        })
    }

    /// Adds a fact.
    pub fn add_fact(
        &self,
        owner: Owner<'_>,
        stamp: Stamp<'_>,
        content: &str,
    ) -> Result<StateEntry, StateError> {
        self.add(&owner.facts_file(), stamp, content)
    }

    /// Adds a note to a day.
    pub fn add_note(
        &self,
        owner: Owner<'_>,
        day: Date,
        stamp: Stamp<'_>,
        content: &str,
    ) -> Result<StateEntry, StateError> {
        self.add(&owner.notes_file(day), stamp, content)
    }

    /// Removes the fact of that id and returns how many lines went. All other lines stay.
    pub fn remove_fact(&self, owner: Owner<'_>, id: &str) -> Result<usize, StateError> {
        let _alone = self.rewrite_alone();
        self.remove(&owner.facts_file(), id)
    }

    /// Removes the note of that id from a day and returns how many lines went. All other lines stay.
    pub fn remove_note(&self, owner: Owner<'_>, day: Date, id: &str) -> Result<usize, StateError> {
        let _alone = self.rewrite_alone();
        self.remove(&owner.notes_file(day), id)
    }

    /// Makes a fact of a note: the same id, instant and content. The fact is written before the note goes, so an
    /// interruption leaves both, never neither; promoting again then finishes the move and adds nothing twice.
    pub fn promote(&self, owner: Owner<'_>, day: Date, id: &str) -> Result<Promotion, StateError> {
        let _alone = self.rewrite_alone();
        let notes = read_text(&self.root, &owner.notes_file(day))?;
        let Some(note) = lines(&notes)
            .filter_map(StateEntry::parse)
            .find(|note| note.id == id)
        else {
            return Ok(Promotion::NoSuchNote);
        };
        let facts = read_text(&self.root, &owner.facts_file())?;
        let is_fact = lines(&facts)
            .filter_map(StateEntry::parse)
            .any(|fact| fact.id == note.id);
        if !is_fact {
            let stamp = Stamp {
                id: &note.id,
                at: note.at,
            };
            let mut changed = closed(&facts);
            changed.push_str(&StateEntry::line(stamp, &note.content));
            self.make_parent(&owner.facts_file())?;
            self.root.replace(&owner.facts_file(), changed.as_bytes())?;
        }
        self.remove(&owner.notes_file(day), id)?;
        Ok(Promotion::Moved)
    }

    /// Copies what one agent knows about every user to another agent, and returns how many entries that were. Entries that
    /// the other one has already are not copied again; nothing of the first one's changes.
    pub fn copy_facts(&self, from: &str, to: &str) -> Result<usize, StateError> {
        let _alone = self.rewrite_alone();
        let mut copied = 0;
        for user in self.names(Path::new("users"))? {
            let (Ok(from), Ok(to)) = (Owner::new(&user, from), Owner::new(&user, to)) else {
                continue;
            };
            copied += self.copy_entries(&from.facts_file(), &to.facts_file())?;
            for day in self.names(&from.notes_directory())? {
                let (from, to) = (from.notes_directory(), to.notes_directory());
                copied += self.copy_entries(&from.join(&day), &to.join(&day))?;
            }
        }
        Ok(copied)
    }

    /// Lists a directory that may be absent.
    fn names(&self, directory: &Path) -> Result<Vec<String>, StateError> {
        let entries = match self.root.list(directory, &LinkPolicy::Refuse, MAX_NAMES) {
            Ok(entries) => entries,
            Err(ReadError::Missing { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let names = entries.into_iter().map(|entry| entry.name.into_string());
        let mut names: Vec<String> = names.filter_map(Result::ok).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn copy_entries(&self, from: &Path, to: &Path) -> Result<usize, StateError> {
        let known = read_text(&self.root, to)?;
        let known_ids: HashSet<String> = lines(&known)
            .filter_map(StateEntry::parse)
            .map(|entry| entry.id)
            .collect();
        let text = read_text(&self.root, from)?;
        let is_new = |line: &&str| {
            StateEntry::parse(line).is_some_and(|entry| !known_ids.contains(&entry.id))
        };
        let new: Vec<&str> = lines(&text).filter(is_new).collect();
        if !new.is_empty() {
            self.make_parent(to)?;
            let changed = format!("{}{}\n", closed(&known), new.join("\n"));
            self.root.replace(to, changed.as_bytes())?;
        }
        Ok(new.len())
    }

    /// Appends a message to a conversation.
    pub fn append_message(
        &self,
        agent: &str,
        session: &str,
        message: &ConversationMessage,
    ) -> Result<(), StateError> {
        self.append(&conversation_file(agent, session)?, &message.line())
    }

    fn add(&self, file: &Path, stamp: Stamp<'_>, content: &str) -> Result<StateEntry, StateError> {
        if is_blank(content) {
            return Err(StateError::Entry {
                reason: "it says nothing",
            });
        }
        if !stamp.fits() {
            return Err(StateError::Entry {
                reason: "its id could not be read back",
            });
        }
        let line = StateEntry::line(stamp, content);
        self.append(file, &line)?;
        StateEntry::parse(line.trim_end_matches('\n')).ok_or(StateError::Entry {
            reason: "its instant could not be read back",
        })
    }

    fn append(&self, file: &Path, line: &str) -> Result<(), StateError> {
        if line.len() > MAX_LINE {
            return Err(StateError::Entry {
                reason: "it is too long",
            });
        }
        let mut ended = self.rewrite_alone();
        self.make_parent(file)?;
        // A line that was cut off by a crash, or typed without a line end, must not swallow the new one.
        let is_ended = ended.remove(file) || {
            let before = read_text(&self.root, file)?;
            before.is_empty() || before.ends_with('\n')
        };
        if is_ended {
            self.root.append(file, line.as_bytes())?;
        } else {
            self.root.append(file, format!("\n{line}").as_bytes())?;
        }
        if ended.len() == MAX_REMEMBERED {
            ended.clear();
        }
        ended.insert(file.to_path_buf());
        Ok(())
    }

    fn remove(&self, file: &Path, id: &str) -> Result<usize, StateError> {
        let before = read_text(&self.root, file)?;
        let (mut kept, mut removed) = (String::with_capacity(before.len()), 0);
        for line in lines(&before) {
            if StateEntry::parse(line).is_some_and(|entry| entry.id == id) {
                removed += 1;
            } else {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        if removed > 0 {
            self.root.replace(file, kept.as_bytes())?;
        }
        Ok(removed)
    }

    fn make_parent(&self, file: &Path) -> Result<(), StateError> {
        if let Some(parent) = file.parent() {
            self.root.make_directories(parent)?;
        }
        Ok(())
    }

    fn rewrite_alone(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a text with its last line ended.
fn closed(text: &str) -> String {
    let mut closed = text.to_owned();
    if !closed.is_empty() && !closed.ends_with('\n') {
        closed.push('\n');
    }
    closed
}
