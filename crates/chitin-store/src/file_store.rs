//! Sessions in files: one index and one transcript for each session, in one directory for each agent (R15).

use crate::compat;
use crate::disk::{self, Directory, File, Open, damaged};
use crate::file_session::FileSession;
use crate::ids::Ids;
use crate::index::IndexFile;
use crate::measure::BranchMeasure;
use crate::read::{self, BranchReach, TranscriptInspection};
use crate::store::{
    Begin, Branch, LockMode, OpenSession, SessionCursor, SessionEntry, SessionPage, SessionStore,
    StoreError, StoreNote, TranscriptRemoval,
};
use chitin_contract::TranscriptRules;
use chitin_protocol::agent_id::AgentId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a session may change under a process that opens it.
pub(crate) const MAX_ATTEMPTS: usize = 100;
/// No honest key is longer.
const MAX_KEY_BYTES: usize = 1024;

/// Sessions in files. See `docs/concepts/sessions.md` for what lies where.
#[derive(Clone)]
pub struct FileStore {
    pub(crate) ledger: Arc<IndexFile>,
    pub(crate) rules: TranscriptRules,
    pub(crate) ids: Arc<dyn Ids>,
    reach: BranchReach,
}

impl std::fmt::Debug for FileStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileStore")
            .field("directory", &self.directory())
            .finish_non_exhaustive()
    }
}

impl FileStore {
    /// Keeps sessions in a directory, which is made when the first session begins. New records follow the rules; old ones
    /// are read whatever rules they follow.
    pub fn new(
        directory: impl Into<PathBuf>,
        rules: &TranscriptRules,
        ids: impl Ids + 'static,
    ) -> Self {
        Self {
            ledger: Arc::new(IndexFile::new(directory.into())),
            rules: *rules,
            ids: Arc::new(ids),
            reach: BranchReach::Needed,
        }
    }

    /// Returns where an agent's sessions are: `<state>/agents/<agent>/sessions`.
    pub fn directory_of(state: &Path, agent: &str) -> PathBuf {
        state
            .join(compat::AGENTS)
            .join(AgentId::normalize(agent).as_str())
            .join(compat::SESSIONS)
    }

    /// Reads no further back than told, when a session is opened or read.
    #[must_use]
    pub const fn with_reach(mut self, reach: BranchReach) -> Self {
        self.reach = reach;
        self
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        self.ledger.directory()
    }

    /// Returns how many times the index was written through this store and its copies. Changes that are made at the same time
    /// are written together.
    pub fn index_writes(&self) -> u64 {
        self.ledger.writes()
    }

    /// Changes an index of at least so many bytes by lines beside it, instead of writing it again each time.
    #[must_use]
    pub fn with_changes_beside_from(self, bytes: u64) -> Self {
        self.ledger.change_by_lines_from(bytes);
        self
    }

    /// Puts what lies beside the index into it. It happens by itself when many changes have come and when the store is dropped.
    pub fn fold_index(&self) -> Result<(), StoreError> {
        self.ledger.fold()
    }

    /// The same, if this process has put any there. It happens by itself when the store is dropped.
    pub fn settle_index(&self) -> Result<(), StoreError> {
        self.ledger.fold_if_owed()
    }

    /// The same, if the last change was seconds ago or the first one minutes. To be called now and then by who stays.
    pub fn fold_index_at_rest(&self) -> Result<(), StoreError> {
        self.ledger.fold_if_at_rest()
    }

    /// Reads a session without opening it for writing, and says what is not as it should be.
    pub fn inspect(
        &self,
        session_key: &str,
        reach: BranchReach,
    ) -> Result<TranscriptInspection, StoreError> {
        let (_, file) = self.transcript_of(session_key)?;
        inspect(&file, reach)
    }

    pub(crate) fn existing(&self) -> Result<Option<Directory>, StoreError> {
        Directory::open(self.directory())
    }

    pub(crate) fn made(&self) -> Result<Directory, StoreError> {
        Directory::make(self.directory())
    }

    /// Opens a session's transcript to be read.
    pub(crate) fn transcript_of(&self, key: &str) -> Result<(Directory, File), StoreError> {
        let unknown = || StoreError::Unknown {
            key: key.to_owned(),
        };
        let index = self.ledger.read()?.ok_or_else(unknown)?;
        let directory = self.existing()?.ok_or_else(unknown)?;
        let entry = index.get(key)?.ok_or_else(unknown)?;
        drop(index);
        let name = transcript_name(&directory, &entry)?;
        let file = directory.file(&name, Open::Read)?.ok_or_else(unknown)?;
        Ok((directory, file))
    }

    /// Finishes opening a transcript that this process has the lock of.
    fn opened(
        &self,
        directory: &Directory,
        (key, entry): (&str, SessionEntry),
        file: File,
        mut notes: Vec<StoreNote>,
        measure: Option<&mut dyn BranchMeasure>,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        let (header, begin) = read::header(&file)?;
        let length = file.len()?;
        let end = read::good_end(&file, begin, length)?;
        if end < length {
            notes.push(set_aside_end(directory, &file, end, length)?);
        }
        let (branch, mut found) = match measure {
            Some(measure) => read::measured_branch(&file, begin, end, measure)?,
            None => read::branch(&file, begin, end, self.reach)?,
        };
        notes.append(&mut found);
        Ok(Box::new(FileSession::new(
            Arc::clone(&self.ledger),
            key.to_owned(),
            entry,
            (header, branch, notes),
            (file, end),
            (self.rules, Arc::clone(&self.ids)),
        )))
    }
}

fn transcript_name(directory: &Directory, entry: &SessionEntry) -> Result<String, StoreError> {
    entry.transcript_name().ok_or_else(|| {
        damaged(
            directory.path_of(compat::INDEX),
            format!(
                "`{}` cannot be the id of a session",
                entry.session_id.escape_debug()
            ),
        )
    })
}

/// Reads a transcript that others may be writing to.
pub(crate) fn inspect(file: &File, reach: BranchReach) -> Result<TranscriptInspection, StoreError> {
    let (header, begin) = read::header(file)?;
    let length = file.len()?;
    let end = read::good_end(file, begin, length)?;
    let (branch, mut notes) = read::branch(file, begin, end, reach)?;
    if end < length {
        notes.push(StoreNote::TornEnd {
            bytes: length - end,
        });
    }
    Ok(TranscriptInspection {
        header,
        branch,
        notes,
    })
}

/// Moves the end of a file that is no record to a file beside it.
fn set_aside_end(
    directory: &Directory,
    file: &File,
    end: u64,
    length: u64,
) -> Result<StoreNote, StoreError> {
    let name = file
        .path()
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    for number in 1..10_000 {
        let torn = format!("{name}.torn-{number}");
        let Some(aside) = directory.file(&torn, Open::CreateNew)? else {
            continue;
        };
        let copied = disk::copy(file, end, length, &aside)
            .and_then(|()| aside.sync_data())
            .and_then(|()| directory.sync());
        if let Err(error) = copied {
            let _ = directory.remove(&torn);
            return Err(error);
        }
        file.truncate(end)?;
        file.sync_data()?;
        return Ok(StoreNote::SetAside {
            path: directory.path_of(&torn),
            bytes: length - end,
        });
    }
    Err(damaged(
        file.path().to_path_buf(),
        "too many torn lines were set aside already",
    ))
}

pub(crate) fn check_key(key: &str) -> Result<(), StoreError> {
    let reason = if key.trim().is_empty() {
        "it is empty"
    } else if key.len() > MAX_KEY_BYTES {
        "it is too long"
    } else if key.chars().any(char::is_control) {
        "it holds control characters"
    } else {
        return Ok(());
    };
    Err(StoreError::BadKey {
        key: key.escape_debug().to_string(),
        reason: reason.to_owned(),
    })
}

/// What a process found before it waited for a lock.
struct Found {
    /// The state of the index.
    state: u64,
    entry: SessionEntry,
    name: String,
}

impl FileStore {
    /// Looks for a session that can be opened.
    fn look(&self, directory: &Directory, key: &str) -> Result<Option<Found>, StoreError> {
        let Ok(index) = self.ledger.read_file(directory)? else {
            return Ok(None);
        };
        let state = index.version();
        let Some(entry) = index.get(key)? else {
            return Ok(None);
        };
        Ok(entry.transcript_name().map(|name| Found {
            state,
            entry: (*entry).clone(),
            name,
        }))
    }

    /// Tells whether a session still has the transcript that was found.
    fn is_as_found(
        &self,
        directory: &Directory,
        key: &str,
        found: &Found,
    ) -> Result<bool, StoreError> {
        let Ok(index) = self.ledger.read_file(directory)? else {
            return Ok(false);
        };
        if index.version() == found.state {
            return Ok(true);
        }
        let entry = index.get(key)?;
        let name = entry.and_then(|entry| entry.transcript_name());
        Ok(name.as_ref() == Some(&found.name))
    }
}

impl FileStore {
    fn open_as_far(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
        mut measure: Option<&mut dyn BranchMeasure>,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        check_key(session_key)?;
        let mut notes = Vec::new();
        for _ in 0..MAX_ATTEMPTS {
            let directory = self.made()?;
            let Some(found) = self.look(&directory, session_key)? else {
                match self.begin(&directory, session_key, None, begin, &mut notes)? {
                    Some(session) => return Ok(session),
                    None => continue,
                }
            };
            let file = match directory.file(&found.name, Open::Append) {
                // Whatever is wrong with the old one, a new one can begin.
                Err(StoreError::Damaged { .. }) if begin.new_session => None,
                file => file?,
            };
            if let Some(file) = &file {
                if !file.lock(lock)? {
                    return Err(StoreError::Busy {
                        key: session_key.to_owned(),
                    });
                }
                // While this process waited, the session may have got another transcript, or the file a new content.
                if file.is_gone()? || !self.is_as_found(&directory, session_key, &found)? {
                    continue;
                }
            }
            match file {
                Some(file) if !begin.new_session => {
                    let measure = measure.take();
                    return self.opened(
                        &directory,
                        (session_key, found.entry),
                        file,
                        notes,
                        measure,
                    );
                }
                // If there is a file, its lock is held until the new one is in place.
                _held => {
                    let old = Some(&*found.name);
                    if let Some(session) =
                        self.begin(&directory, session_key, old, begin, &mut notes)?
                    {
                        return Ok(session);
                    }
                }
            }
        }
        Err(StoreError::Busy {
            key: session_key.to_owned(),
        })
    }
}

impl SessionStore for FileStore {
    fn find(&self, session_key: &str) -> Result<Option<SessionEntry>, StoreError> {
        let Some(index) = self.ledger.read()? else {
            return Ok(None);
        };
        let entry = index.get(session_key)?;
        Ok(entry.map(|entry| (*entry).clone()))
    }

    fn list(&self) -> Result<Vec<(String, SessionEntry)>, StoreError> {
        let Some(index) = self.ledger.read()? else {
            return Ok(Vec::new());
        };
        index.list()
    }

    fn page(&self, after: Option<&SessionCursor>, limit: usize) -> Result<SessionPage, StoreError> {
        match self.ledger.read()? {
            Some(index) => index.page(after, limit),
            None => Ok(SessionPage::default()),
        }
    }

    fn open(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        self.open_as_far(session_key, begin, lock, None)
    }

    fn open_measured(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
        measure: &mut dyn BranchMeasure,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        self.open_as_far(session_key, begin, lock, Some(measure))
    }

    fn read(&self, session_key: &str) -> Result<Branch, StoreError> {
        self.inspect(session_key, self.reach)
            .map(|inspection| inspection.branch)
    }

    fn read_measured(
        &self,
        session_key: &str,
        measure: &mut dyn BranchMeasure,
    ) -> Result<Branch, StoreError> {
        let (_, file) = self.transcript_of(session_key)?;
        let (_, begin) = read::header(&file)?;
        let end = read::good_end(&file, begin, file.len()?)?;
        read::measured_branch(&file, begin, end, measure).map(|(branch, _)| branch)
    }

    fn read_last(
        &self,
        session_key: &str,
        records: usize,
        bytes: u64,
    ) -> Result<Branch, StoreError> {
        let reach = BranchReach::Bounded { bytes, records };
        self.inspect(session_key, reach)
            .map(|inspection| inspection.branch)
    }

    fn fork(&self, from: &str, to: &str, begin: &Begin<'_>) -> Result<SessionEntry, StoreError> {
        self.fork_session(from, to, begin)
    }

    fn remove(&self, session_key: &str, removal: TranscriptRemoval<'_>) -> Result<(), StoreError> {
        self.remove_session(session_key, removal)
    }

    fn annotate(
        &self,
        session_key: &str,
        change: &mut dyn FnMut(&mut SessionEntry),
    ) -> Result<(), StoreError> {
        let unknown = || StoreError::Unknown {
            key: session_key.to_owned(),
        };
        // Nothing is made for a session that is not there.
        self.find(session_key)?.ok_or_else(unknown)?;
        self.ledger.change(
            |turn| {
                let old = turn.get(session_key)?.ok_or_else(unknown)?;
                let mut entry = old.clone();
                change(&mut entry);
                entry.session_id.clone_from(&old.session_id);
                entry.session_file.clone_from(&old.session_file);
                turn.set(session_key, &entry)
            },
            |()| Ok(()),
        )
    }
}
