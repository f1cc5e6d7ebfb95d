//! What a store promises, whatever keeps the records. Nothing above this trait knows the backend.

pub use crate::entry::{SessionEntry, SessionTotals};

use crate::measure::BranchMeasure;
use crate::shape::Run;
use chitin_protocol::transcript::{EntryBody, Header, TranscriptEntry};
use rustix::io::Errno;
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// How many sessions are held at a time by whoever looks at all of them.
const AT_A_TIME: usize = 512;

/// Keeps sessions. Implemented by the file backend. An implementor promises: what [`OpenSession::append`] returned from is
/// there after any crash; two processes never interleave in one session; a damaged record is set aside, never dropped.
pub trait SessionStore: Send + Sync {
    /// Returns what is known of a session, without opening it.
    fn find(&self, session_key: &str) -> Result<Option<SessionEntry>, StoreError>;

    /// Returns every session that is known, the most recently used first.
    fn list(&self) -> Result<Vec<(String, SessionEntry)>, StoreError>;

    /// Returns some of the sessions, the most recently used first: those after a place, or the first of all. Each session that
    /// nobody uses meanwhile is on exactly one page; one that is used goes to the front.
    fn page(&self, after: Option<&SessionCursor>, limit: usize) -> Result<SessionPage, StoreError> {
        Ok(SessionPage::of(self.list()?, after, limit))
    }

    /// Shows every session, some at a time. What is shown may be changed and removed.
    fn each(&self, show: &mut dyn FnMut(String, SessionEntry)) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let page = self.page(after.as_ref(), AT_A_TIME)?;
            after = page.next();
            for (key, entry) in page.sessions {
                show(key, entry);
            }
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Opens a session for writing, or begins it. Only one process at a time has it open.
    fn open(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
    ) -> Result<Box<dyn OpenSession>, StoreError>;

    /// The same, and of the branch no more is read than a measure says.
    fn open_measured(
        &self,
        session_key: &str,
        begin: &Begin<'_>,
        lock: LockMode,
        measure: &mut dyn BranchMeasure,
    ) -> Result<Box<dyn OpenSession>, StoreError> {
        let _ = measure;
        self.open(session_key, begin, lock)
    }

    /// Reads the active branch of a session without opening it for writing.
    fn read(&self, session_key: &str) -> Result<Branch, StoreError>;

    /// The same, and no more of it than a measure says.
    fn read_measured(
        &self,
        session_key: &str,
        measure: &mut dyn BranchMeasure,
    ) -> Result<Branch, StoreError> {
        let _ = measure;
        self.read(session_key)
    }

    /// Reads the last records of a session: so many of them, and of so many bytes, at most.
    fn read_last(
        &self,
        session_key: &str,
        records: usize,
        bytes: u64,
    ) -> Result<Branch, StoreError> {
        let _ = (records, bytes);
        self.read(session_key)
    }

    /// Begins a session with a copy of what another one's model would get: its active branch, from the last compaction's
    /// first kept record on. The records keep their names. The other session may be open meanwhile, and in the middle of a
    /// turn: then the copy ends before the answer whose calls have no results yet. It is an error if the new one exists.
    fn fork(&self, from: &str, to: &str, begin: &Begin<'_>) -> Result<SessionEntry, StoreError>;

    /// Takes a session away, unless a process has it open.
    fn remove(&self, session_key: &str, removal: TranscriptRemoval<'_>) -> Result<(), StoreError>;

    /// Changes what the index says of a session, without opening it; somebody else may have it open. Which transcript it has
    /// stays. Others wait while the change is made: it must be quick, and must not use the store.
    fn annotate(
        &self,
        session_key: &str,
        change: &mut dyn FnMut(&mut SessionEntry),
    ) -> Result<(), StoreError>;
}

/// A place in the list of sessions: right behind one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the session was last used, in milliseconds since 1970.
    pub updated_at: i64,
    /// Its key.
    pub key: String,
}

impl SessionCursor {
    /// Returns the place behind a session.
    pub fn behind(key: &str, entry: &SessionEntry) -> Self {
        Self {
            updated_at: entry.updated_at,
            key: key.to_owned(),
        }
    }

    /// Reads a place as it is written.
    pub fn parse(text: &str) -> Option<Self> {
        let (updated_at, key) = text.split_once(':')?;
        Some(Self {
            updated_at: updated_at.parse().ok()?,
            key: key.to_owned(),
        })
    }

    /// Tells whether a session comes after this place.
    pub fn is_before(&self, updated_at: i64, key: &str) -> bool {
        (updated_at, self.key.as_str()) < (self.updated_at, key)
    }
}

impl std::fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.updated_at, self.key)
    }
}

/// Some of the sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionPage {
    /// Their keys, and what is known of them.
    pub sessions: Vec<(String, SessionEntry)>,
    /// Whether more come after them.
    pub has_more: bool,
    /// How many sessions there are in all.
    pub total: usize,
}

impl SessionPage {
    /// Takes some of all sessions: the most recently used first, those after a place, or the first of all.
    pub fn of(
        mut sessions: Vec<(String, SessionEntry)>,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Self {
        let total = sessions.len();
        sessions.sort_by(|(a, one), (b, other)| {
            let newest = other.updated_at.cmp(&one.updated_at);
            newest.then_with(|| a.cmp(b))
        });
        if let Some(after) = after {
            sessions.retain(|(key, entry)| after.is_before(entry.updated_at, key));
        }
        let has_more = sessions.len() > limit;
        sessions.truncate(limit);
        Self {
            sessions,
            has_more,
            total,
        }
    }

    /// Returns the place where the next page begins, if there is one.
    pub fn next(&self) -> Option<SessionCursor> {
        let (key, entry) = self.sessions.last().filter(|_| self.has_more)?;
        Some(SessionCursor::behind(key, entry))
    }
}

/// What becomes of the transcript of a session that is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptRemoval<'a> {
    /// It goes into the archive, where pruning finds it.
    Archive {
        /// The time, as an ISO instant.
        now: &'a str,
    },
    /// It is deleted, and all that lies beside it.
    Delete,
}

/// How a session begins, when there is none or the old one is over.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a> {
    /// The workspace.
    pub workspace: &'a str,
    /// The time, as an ISO instant.
    pub now: &'a str,
    /// The same in milliseconds since 1970.
    pub now_ms: i64,
    /// Whether a new session begins even if there is one; the old one is put into the archive.
    pub new_session: bool,
}

/// A session that this process has open for writing.
pub trait OpenSession: Send + Sync {
    /// Returns the session's key.
    fn key(&self) -> &str;

    /// Returns the first line.
    fn header(&self) -> &Header;

    /// Returns where the transcript is, for people and for side files.
    fn transcript(&self) -> PathBuf;

    /// Returns how long the transcript is, in bytes; 0 when nobody knows.
    fn transcript_bytes(&self) -> u64 {
        0
    }

    /// Returns the active branch as far back as the model may need it: from the last compaction's first kept record on.
    fn branch(&self) -> &Branch;

    /// Appends records to the active branch, each the child of the one before, and returns them once they are on the disk.
    /// Either all of them are there or none.
    fn append(
        &mut self,
        entries: Vec<NewEntry>,
        now: &str,
    ) -> Result<Vec<TranscriptEntry>, StoreError>;

    /// Appends records, and does not wait for the disk: they are on the branch at once, and there after a crash only once
    /// [`PendingRecords::wait`] returned. Lets a caller ask the model while the disk works; nothing of the records may be
    /// acknowledged before.
    fn append_pending(
        &mut self,
        entries: Vec<NewEntry>,
        now: &str,
    ) -> Result<PendingRecords, StoreError> {
        Ok(PendingRecords::done(self.append(entries, now)?))
    }

    /// Says which run the records belong to that are appended from now on. Contracts that note it write it into messages.
    fn begin_run(&mut self, _run: &Run) {}

    /// Returns what was found and done when the session was opened: a torn line set aside, damaged lines passed over.
    fn notes(&self) -> &[StoreNote] {
        &[]
    }

    /// Returns what the index says of the session.
    fn entry(&self) -> &SessionEntry;

    /// Changes what the index says of the session. Others wait while the change is made: it must be quick, and must not use the
    /// store.
    fn update(&mut self, change: &mut dyn FnMut(&mut SessionEntry)) -> Result<(), StoreError>;
}

/// A record to append; the store gives it its id, parent and time.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// What it says.
    pub body: EntryBody,
}

/// Records that were appended and may not be on the disk yet. Dropped, it waits for nothing.
pub struct PendingRecords {
    entries: Vec<TranscriptEntry>,
    sync: Option<Box<dyn FnOnce() -> Result<(), StoreError> + Send>>,
}

impl PendingRecords {
    /// Records that are on the disk already.
    pub fn done(entries: Vec<TranscriptEntry>) -> Self {
        Self {
            entries,
            sync: None,
        }
    }

    /// Records that are on the disk once a function returned.
    pub fn new(
        entries: Vec<TranscriptEntry>,
        sync: impl FnOnce() -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        Self {
            entries,
            sync: Some(Box::new(sync)),
        }
    }

    /// Returns the records, which may not be on the disk yet.
    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// Returns the records once they are on the disk. Blocks; may be called in another thread.
    pub fn wait(self) -> Result<Vec<TranscriptEntry>, StoreError> {
        if let Some(sync) = self.sync {
            sync()?;
        }
        Ok(self.entries)
    }
}

impl std::fmt::Debug for PendingRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// What was found in a file that is not as it should be. Nothing of it was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum StoreNote {
    /// The end of the file was no record; it was moved to a file beside it.
    #[serde(rename_all = "camelCase")]
    SetAside {
        /// Where it is now.
        path: PathBuf,
        /// How long it is.
        bytes: u64,
    },
    /// The end of the file is no record. It was only read, so it is where it was.
    #[serde(rename_all = "camelCase")]
    TornEnd {
        /// How long it is.
        bytes: u64,
    },
    /// A line is no record; it was passed over and is where it was.
    #[serde(rename_all = "camelCase")]
    DamagedLine {
        /// Where the line begins.
        offset: u64,
        /// How long it is.
        bytes: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A record names one before it that is not there. The branch goes on with the record before a damaged line, or ends.
    #[serde(rename_all = "camelCase")]
    LostParent {
        /// The record that is not there.
        id: String,
    },
    /// The index named a transcript that is not there; the session began anew.
    #[serde(rename_all = "camelCase")]
    LostTranscript {
        /// The transcript.
        path: PathBuf,
    },
    /// The index was missing or damaged, and was made again from the transcripts.
    #[serde(rename_all = "camelCase")]
    IndexRebuilt {
        /// Where the damaged one is now; none when it was missing.
        set_aside: Option<PathBuf>,
    },
}

/// Records from the root, or from where the model need not look further back, to the leaf.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Branch {
    /// The records, oldest first.
    pub entries: Vec<TranscriptEntry>,
    /// Whether there are older records that were not read.
    pub has_older: bool,
    /// Of the older records those that a measure held, oldest first.
    pub older: Vec<TranscriptEntry>,
    /// How many of the older records it counted.
    pub counted: usize,
}

/// Whether to wait for a session that another process has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// Refuse at once.
    Refuse,
    /// Wait so many milliseconds.
    Wait(u64),
}

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the session open.
    #[error("another process has the session `{key}` open")]
    Busy {
        /// The session.
        key: String,
    },
    /// There is no such session.
    #[error("there is no session `{key}`")]
    Unknown {
        /// The session.
        key: String,
    },
    /// The key cannot be used.
    #[error("`{key}` cannot be a session: {reason}")]
    BadKey {
        /// The session.
        key: String,
        /// Why.
        reason: String,
    },
    /// The disk is full. What was acknowledged before is there; the record that did not fit is not.
    #[error("there is no room left for `{}`", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be used.
    #[error("`{}` cannot be used: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A write failed in a way that leaves open what is on the disk. The session must be opened again.
    #[error("`{}` must be opened again: an earlier write failed", path.display())]
    Poisoned {
        /// The file.
        path: PathBuf,
    },
    /// A record is longer than any reader would read.
    #[error("a record of {bytes} bytes is too long for `{}`", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// How long it would be.
        bytes: u64,
    },
    /// There is such a session already.
    #[error("there is a session `{key}` already")]
    Exists {
        /// The session.
        key: String,
    },
    /// The operating system says no.
    #[error("`{}` could not be read or written: {}", path.display(), plain(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
}

/// Tells whether this process, or the machine, may not open another file.
fn is_out_of_files(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE]
        .map(|errno| Some(errno.raw_os_error()))
        .contains(&error.raw_os_error())
}

/// Says what the operating system says, without its number for it.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error ").next().unwrap_or(&text);
    plain.to_lowercase()
}

impl StoreError {
    /// Returns the same error once more, for somebody else whom it befell.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Busy { key } => Self::Busy { key: key.clone() },
            Self::Unknown { key } => Self::Unknown { key: key.clone() },
            Self::Exists { key } => Self::Exists { key: key.clone() },
            Self::BadKey { key, reason } => Self::BadKey {
                key: key.clone(),
                reason: reason.clone(),
            },
            Self::NoRoom { path } => Self::NoRoom { path: path.clone() },
            Self::Poisoned { path } => Self::Poisoned { path: path.clone() },
            Self::Damaged { path, reason } => Self::Damaged {
                path: path.clone(),
                reason: reason.clone(),
            },
            Self::TooLong { path, bytes } => Self::TooLong {
                path: path.clone(),
                bytes: *bytes,
            },
            Self::Io { path, source } => Self::Io {
                path: path.clone(),
                source: match source.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(source.kind(), source.to_string()),
                },
            },
        }
    }

    /// Returns what may be done about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Busy { .. } => {
                Some("wait until the other process is done, or use another session")
            }
            Self::NoRoom { .. } => Some("make room on the disk; nothing that was stored is lost"),
            Self::Damaged { .. } => {
                Some("move the file away, or start a new session; the old file is kept")
            }
            Self::Poisoned { .. } => Some("open the session again; it is repaired then"),
            Self::Exists { .. } => Some("use another key, or start a new session"),
            Self::Io { source, .. } if is_out_of_files(source) => {
                Some("raise the limit of open files with `ulimit -n`, or close other programs")
            }
            Self::Io { .. } => Some(
                "sessions are kept there: make the place readable and writable, or name another with `CHITIN_HOME`",
            ),
            Self::Unknown { .. } | Self::BadKey { .. } | Self::TooLong { .. } => None,
        }
    }
}
