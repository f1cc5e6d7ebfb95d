//! Sessions in files: one index and one transcript for each session, in one directory for each agent (R15).

use crate::compat;
use crate::disk::{Directory, File, Listed, Open, damaged};
use crate::file_session::FileSession;
use crate::ids::Ids;
use crate::index::{Index, IndexLock};
use crate::names;
use crate::read::{self, Inspection, Reach};
use crate::rebuild;
use crate::store::{
    Begin, Branch, LockMode, Note, OpenSession, SessionEntry, SessionStore, StoreError,
};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::message::Extra;
use chitin_protocol::rules::{ExplicitIds, TranscriptRules};
use chitin_protocol::transcript::Header;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often a session may change under a process that opens it.
const MAX_ATTEMPTS: usize = 100;
/// No honest key is longer.
const MAX_KEY_BYTES: usize = 1024;

/// Sessions in files. See `docs/concepts/sessions.md` for what lies where.
#[derive(Clone)]
pub struct FileStore {
    path: PathBuf,
    rules: TranscriptRules,
    ids: Arc<dyn Ids>,
    reach: Reach,
}

impl std::fmt::Debug for FileStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A new transcript that is not in the index yet.
pub(crate) struct Fresh {
    pub(crate) file: File,
    pub(crate) stem: String,
    pub(crate) length: u64,
    pub(crate) header: Header,
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
            path: directory.into(),
            rules: *rules,
            ids: Arc::new(ids),
            reach: Reach::Needed,
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
    pub const fn with_reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.path
    }

    /// Reads a session without opening it for writing, and says what is not as it should be.
    pub fn inspect(&self, session_key: &str, reach: Reach) -> Result<Inspection, StoreError> {
        let (_, file) = self.transcript_of(session_key)?;
        inspect(&file, reach)
    }

    pub(crate) fn existing(&self) -> Result<Option<Directory>, StoreError> {
        Directory::open(&self.path)
    }

    pub(crate) fn made(&self) -> Result<Directory, StoreError> {
        Directory::make(&self.path)
    }

    pub(crate) fn ids(&self) -> &dyn Ids {
        &*self.ids
    }

    /// Opens a session's transcript to be read.
    pub(crate) fn transcript_of(&self, key: &str) -> Result<(Directory, File), StoreError> {
        let unknown = || StoreError::Unknown {
            key: key.to_owned(),
        };
        let directory = self.existing()?.ok_or_else(unknown)?;
        let index = rebuild::read_or_make(&directory)?;
        let entry = index.get(key).ok_or_else(unknown)?;
        let name = transcript_name(&directory, &entry)?;
        let file = directory.file(&name, Open::Read)?.ok_or_else(unknown)?;
        Ok((directory, file))
    }

    /// Finishes opening a transcript that this process has the lock of.
    fn opened(
        &self,
        directory: Directory,
        key: &str,
        entry: SessionEntry,
        file: File,
        mut notes: Vec<Note>,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        let (header, begin) = read::header(&file)?;
        let length = file.len()?;
        let end = read::good_end(&file, begin, length)?;
        if end < length {
            notes.push(set_aside_end(&directory, &file, end, length)?);
        }
        let (branch, mut found) = read::branch(&file, begin, end, self.reach)?;
        notes.append(&mut found);
        Ok(Box::new(FileSession::new(
            directory,
            key.to_owned(),
            entry,
            (header, branch, notes),
            (file, end),
            (self.rules, Arc::clone(&self.ids)),
        )))
    }

    /// Makes a new transcript for a key. Its header is on the disk when this returns, and the lock is taken.
    fn begin(
        &self,
        directory: &Directory,
        key: &str,
        begin: &Begin<'_>,
    ) -> Result<Fresh, StoreError> {
        let mut id = self.new_session_id(key);
        for _ in 0..MAX_ATTEMPTS {
            let name = names::of_id(&id);
            if let Some(file) = directory.file(&name, Open::CreateNew)? {
                let header = Header {
                    kind: compat::SESSION.to_owned(),
                    version: self.rules.header_version,
                    id: id.clone(),
                    timestamp: begin.now.to_owned(),
                    cwd: begin.workspace.to_owned(),
                    extra: Extra::new(),
                };
                let mut line = serde_json::to_vec(&header).unwrap_or_default();
                line.push(b'\n');
                let length = line.len() as u64;
                let written = file
                    .lock(LockMode::Refuse)
                    .and_then(|_| file.write_all(&line))
                    .and_then(|()| file.sync_data())
                    .and_then(|()| directory.sync());
                if let Err(error) = written {
                    let _ = directory.remove(&name);
                    return Err(error);
                }
                return Ok(Fresh {
                    file,
                    stem: id,
                    length,
                    header,
                });
            }
            id = self.ids.session();
        }
        Err(damaged(self.path.clone(), "no session id is free"))
    }

    /// Returns the id of a new session (R18).
    fn new_session_id(&self, key: &str) -> String {
        match self.rules.explicit_ids {
            ExplicitIds::Allotted => self.ids.session(),
            ExplicitIds::AsNamed => key
                .strip_prefix("agent:")
                .and_then(|rest| rest.split_once(':'))
                .and_then(|(_, rest)| rest.strip_prefix(compat::EXPLICIT))
                .filter(|name| names::is_transcript(&names::of_id(name)))
                .map_or_else(|| self.ids.session(), str::to_owned),
        }
    }

    /// Lets a key go on with a new transcript, and puts the old one into the archive.
    pub(crate) fn put_in_place(
        directory: &Directory,
        (lock, mut index): (&IndexLock, Index),
        key: &str,
        fresh: &Fresh,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        let name = names::of_id(&fresh.stem);
        let old = index.get(key);
        let old_name = old.as_ref().and_then(SessionEntry::transcript_name);
        let entry = SessionEntry {
            session_id: fresh.header.id.clone(),
            session_file: Some(directory.path_of(&name).to_string_lossy().into_owned()),
            updated_at: begin.now_ms,
            ..carried_over(old.unwrap_or_default())
        };
        index.set(key, &entry);
        let placed = rebuild::note_key(directory, key, &fresh.stem, lock)
            .and_then(|()| index.write(directory, lock));
        if let Err(error) = placed {
            let _ = directory.remove(&name);
            return Err(error);
        }
        if let Some(old) = old_name.filter(|old| *old != name)
            && directory.listed(&old)?.is_some()
        {
            let archived = format!("{old}{}{}", compat::RESET, names::time(begin.now));
            let free =
                std::iter::once(archived.clone()).chain((2..).map(|n| format!("{archived}-{n}")));
            directory.set_aside(&old, free)?;
        }
        Ok(entry)
    }

    /// Begins a session for a key.
    fn create(
        &self,
        directory: Directory,
        (lock, index): (IndexLock, Index),
        key: &str,
        begin: &Begin<'_>,
        notes: Vec<Note>,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        let fresh = self.begin(&directory, key, begin)?;
        let entry = Self::put_in_place(&directory, (&lock, index), key, &fresh, begin)?;
        drop(lock);
        Ok(Box::new(FileSession::new(
            directory,
            key.to_owned(),
            entry,
            (fresh.header, Branch::default(), notes),
            (fresh.file, fresh.length),
            (self.rules, Arc::clone(&self.ids)),
        )))
    }
}

/// Returns what a session that starts afresh takes along: who it is, not what its turns took.
fn carried_over(old: SessionEntry) -> SessionEntry {
    SessionEntry {
        model_provider: old.model_provider,
        model: old.model,
        context_tokens: old.context_tokens,
        extra: old.extra,
        ..SessionEntry::default()
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
pub(crate) fn inspect(file: &File, reach: Reach) -> Result<Inspection, StoreError> {
    let (header, begin) = read::header(file)?;
    let length = file.len()?;
    let end = read::good_end(file, begin, length)?;
    let (branch, mut notes) = read::branch(file, begin, end, reach)?;
    if end < length {
        notes.push(Note::TornEnd {
            bytes: length - end,
        });
    }
    Ok(Inspection {
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
) -> Result<Note, StoreError> {
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
        let copied = copy(file, end, length, &aside)
            .and_then(|()| aside.sync_data())
            .and_then(|()| directory.sync());
        if let Err(error) = copied {
            let _ = directory.remove(&torn);
            return Err(error);
        }
        file.truncate(end)?;
        file.sync_data()?;
        return Ok(Note::SetAside {
            path: directory.path_of(&torn),
            bytes: length - end,
        });
    }
    Err(damaged(
        file.path().to_path_buf(),
        "too many torn lines were set aside already",
    ))
}

/// Copies bytes of a file to the end of another.
pub(crate) fn copy(from: &File, begin: u64, end: u64, to: &File) -> Result<(), StoreError> {
    let mut buffer = vec![0; 1 << 20];
    let mut at = begin;
    while at < end {
        let take = usize::try_from((end - at).min(buffer.len() as u64)).unwrap_or(buffer.len());
        let read = from.read_at(&mut buffer[..take], at)?;
        if read == 0 {
            break;
        }
        to.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
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
    entry: SessionEntry,
    name: String,
    index: Option<Listed>,
}

fn find(directory: &Directory, key: &str) -> Result<Option<Found>, StoreError> {
    let listed = directory.listed(compat::INDEX)?;
    let Ok(index) = Index::read(directory)? else {
        return Ok(None);
    };
    Ok(index.get(key).and_then(|entry| {
        Some(Found {
            name: entry.transcript_name()?,
            entry,
            index: listed,
        })
    }))
}

impl SessionStore for FileStore {
    fn find(&self, session_key: &str) -> Result<Option<SessionEntry>, StoreError> {
        match self.existing()? {
            Some(directory) => Ok(rebuild::read_or_make(&directory)?.get(session_key)),
            None => Ok(None),
        }
    }

    fn list(&self) -> Result<Vec<(String, SessionEntry)>, StoreError> {
        let Some(directory) = self.existing()? else {
            return Ok(Vec::new());
        };
        let index = rebuild::read_or_make(&directory)?;
        let mut sessions: Vec<_> = index
            .sessions()
            .map(|(key, entry)| (key.clone(), entry))
            .collect();
        sessions.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.updated_at));
        Ok(sessions)
    }

    fn open(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        check_key(session_key)?;
        let mut notes = Vec::new();
        for _ in 0..MAX_ATTEMPTS {
            let directory = self.made()?;
            let Some(found) = find(&directory, session_key)? else {
                let index_lock = IndexLock::take(&directory)?;
                let index = rebuild::read_or_restore(&directory, &index_lock, &mut notes)?;
                let entry = index.get(session_key);
                if entry
                    .as_ref()
                    .is_some_and(|entry| entry.transcript_name().is_some())
                {
                    continue;
                }
                if entry.is_some() {
                    // What the index names can be no transcript of ours.
                    let path = directory.path_of(compat::INDEX);
                    notes.push(Note::LostTranscript { path });
                }
                return self.create(directory, (index_lock, index), session_key, begin, notes);
            };
            let file = match directory.file(&found.name, Open::Append) {
                // Whatever is wrong with the old one, a new one can begin.
                Err(StoreError::Damaged { .. }) if begin.afresh => None,
                file => file?,
            };
            let Some(file) = file else {
                let index_lock = IndexLock::take(&directory)?;
                let index = rebuild::read_or_restore(&directory, &index_lock, &mut notes)?;
                let name = index
                    .get(session_key)
                    .and_then(|entry| entry.transcript_name());
                if name.as_ref() != Some(&found.name) {
                    continue;
                }
                if !begin.afresh {
                    let path = directory.path_of(&found.name);
                    notes.push(Note::LostTranscript { path });
                }
                return self.create(directory, (index_lock, index), session_key, begin, notes);
            };
            if !file.lock(lock)? {
                return Err(StoreError::Busy {
                    key: session_key.to_owned(),
                });
            }
            // While this process waited, the session may have got another transcript.
            let listed = directory.listed(compat::INDEX)?;
            if listed.as_ref().map(|listed| listed.identity)
                != found.index.as_ref().map(|listed| listed.identity)
            {
                let again = find(&directory, session_key)?;
                if again.map(|again| again.name) != Some(found.name) {
                    continue;
                }
            }
            if begin.afresh {
                let index_lock = IndexLock::take(&directory)?;
                let index = rebuild::read_or_restore(&directory, &index_lock, &mut notes)?;
                return self.create(directory, (index_lock, index), session_key, begin, notes);
            }
            return self.opened(directory, session_key, found.entry, file, notes);
        }
        Err(StoreError::Busy {
            key: session_key.to_owned(),
        })
    }

    fn read(&self, session_key: &str) -> Result<Branch, StoreError> {
        self.inspect(session_key, self.reach)
            .map(|inspection| inspection.branch)
    }
}
