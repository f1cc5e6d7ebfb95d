//! An agent's sessions on this machine: those of our own store, or OpenClaw's, which are only read.

use crate::display::{plain, sentence};
use crate::error::{ErrorKind, RuntimeError};
use crate::{Host, Setup, chitin_home};
use chitin_config::home;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::nearest::nearest;
use chitin_store::{
    BranchReach, FileStore, OpenClawSessions, RandomIds, SessionCursor, SessionEntry, SessionPage,
    SessionStore, StoreError, TranscriptInspection,
};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

/// Keys that are offered when one is not known.
const OFFERED: usize = 5;

/// An agent's sessions.
pub struct AgentSessions {
    /// The agent.
    pub agent: AgentId,
    /// The workspace that the agent lives in.
    pub workspace: PathBuf,
    /// The files.
    pub files: SessionFiles,
}

/// Who keeps an agent's sessions, and how they are reached.
pub enum SessionFiles {
    /// We do.
    Own {
        /// The store that writes them.
        store: FileStore,
        /// Reads the same directory and never writes to it.
        reader: OpenClawSessions,
    },
    /// OpenClaw does; they are only read.
    OpenClaw {
        /// Reads them.
        reader: OpenClawSessions,
        /// OpenClaw's state directory.
        state: PathBuf,
    },
}

/// Whose sessions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionOwner {
    /// This program.
    Chitin,
    /// OpenClaw.
    OpenClaw,
}

/// A file of a transcript.
#[derive(Debug, Clone)]
pub struct TranscriptFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl AgentSessions {
    /// Finds the sessions of an agent. Nothing is opened.
    pub fn find(host: &Host, setup: &Setup, owner: SessionOwner) -> Result<Self, RuntimeError> {
        let files = match owner {
            SessionOwner::Chitin => {
                let state = chitin_home(host).ok_or_else(|| {
                    let what = "Could not determine where sessions are stored.";
                    RuntimeError::new(ErrorKind::User, what).hint("set `CHITIN_HOME` or `HOME`")
                })?;
                let directory = FileStore::directory_of(&state, setup.agent.as_str());
                let rules = &setup.contract().runtime.transcript;
                SessionFiles::Own {
                    store: FileStore::new(directory, rules, RandomIds),
                    reader: OpenClawSessions::at(state),
                }
            }
            SessionOwner::OpenClaw => {
                let found = home::state_directory(&host.env, &setup.contract().agents);
                let state = found.map_err(|error| {
                    let what = "Could not determine OpenClaw's directory.";
                    RuntimeError::new(ErrorKind::User, what).caused_by(error)
                })?;
                SessionFiles::OpenClaw {
                    reader: OpenClawSessions::at(state.clone()),
                    state,
                }
            }
        };
        Ok(Self {
            agent: setup.agent.clone(),
            workspace: setup.directory.clone(),
            files,
        })
    }

    /// Returns the directory, for people.
    pub fn directory(&self) -> PathBuf {
        match &self.files {
            SessionFiles::Own { store, .. } => store.directory().to_path_buf(),
            SessionFiles::OpenClaw { state, .. } => {
                FileStore::directory_of(state, self.agent.as_str())
            }
        }
    }

    /// Returns every session, the most recently used first.
    pub fn list(&self) -> Result<Vec<(String, SessionEntry)>, RuntimeError> {
        let listed = match &self.files {
            SessionFiles::Own { store, .. } => store.list(),
            SessionFiles::OpenClaw { reader, .. } => reader.list(self.agent.as_str()),
        };
        Ok(listed?)
    }

    /// Returns some of the sessions, the most recently used first: those after a place, or the first of all.
    pub fn page(
        &self,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<SessionPage, RuntimeError> {
        match &self.files {
            SessionFiles::Own { store, .. } => Ok(store.page(after, limit)?),
            SessionFiles::OpenClaw { .. } => Ok(SessionPage::of(self.list()?, after, limit)),
        }
    }

    /// Returns the file of a transcript by its name.
    pub fn transcript(&self, name: &str) -> Result<Option<TranscriptFile>, RuntimeError> {
        let (SessionFiles::Own { reader, .. } | SessionFiles::OpenClaw { reader, .. }) =
            &self.files;
        let found = reader.transcript(self.agent.as_str(), name)?;
        Ok(found.map(|file| TranscriptFile {
            path: file.path,
            bytes: file.bytes,
        }))
    }

    /// Returns the files of transcripts by name.
    pub fn transcripts(&self) -> Result<HashMap<String, TranscriptFile>, RuntimeError> {
        let (SessionFiles::Own { reader, .. } | SessionFiles::OpenClaw { reader, .. }) =
            &self.files;
        let found = reader.transcripts(self.agent.as_str())?;
        let named = found.into_iter().map(|file| {
            let known = TranscriptFile {
                path: file.path,
                bytes: file.bytes,
            };
            (file.name, known)
        });
        Ok(named.collect())
    }

    /// Finds the key that a caller means: as it is, or with the agent before it.
    pub fn key(&self, asked: &str) -> Result<String, RuntimeError> {
        let known = self.list()?;
        let asked = asked.trim();
        let long = self.long_key(asked);
        let exact = [asked, long.as_str()]
            .into_iter()
            .find(|key| known.iter().any(|(known, _)| known == key));
        if let Some(key) = exact {
            return Ok(key.to_owned());
        }
        let failed = RuntimeError::new(
            ErrorKind::User,
            format!("There is no session `{}`.", one_line(asked)),
        );
        let keys = || known.iter().map(|(key, _)| key.as_str());
        Err(if let Some(near) = nearest(&long, keys()) {
            failed.hint(format!("did you mean `{}`?", one_line(near)))
        } else if known.is_empty() {
            failed.hint(format!("the agent `{}` has no sessions yet", self.agent))
        } else {
            let offered: Vec<String> = keys()
                .take(OFFERED)
                .map(|key| format!("`{}`", one_line(key)))
                .collect();
            failed.hint(format!("there is {}", offered.join(", ")))
        })
    }

    /// Returns a key with the agent before it.
    pub fn long_key(&self, key: &str) -> String {
        if key.starts_with("agent:") {
            return key.to_owned();
        }
        format!("agent:{}:{key}", self.agent)
    }

    /// Reads a session.
    pub fn read(
        &self,
        key: &str,
        reach: BranchReach,
    ) -> Result<TranscriptInspection, RuntimeError> {
        let read = match &self.files {
            SessionFiles::Own { store, .. } => store.inspect(key, reach),
            SessionFiles::OpenClaw { reader, .. } => reader.read(self.agent.as_str(), key, reach),
        };
        Ok(read?)
    }

    /// Writes a session's transcript somewhere, byte for byte.
    pub fn copy(&self, key: &str, to: &mut dyn Write) -> Result<u64, StoreError> {
        match &self.files {
            SessionFiles::Own { store, .. } => store.export(key, to),
            SessionFiles::OpenClaw { reader, .. } => reader.export(self.agent.as_str(), key, to),
        }
    }
}

impl From<StoreError> for RuntimeError {
    fn from(error: StoreError) -> Self {
        let hint = error.hint();
        let failed = match &error {
            StoreError::Io { .. } | StoreError::NoRoom { .. } | StoreError::Poisoned { .. } => {
                Self::new(ErrorKind::User, "Could not use the sessions.").caused_by(error)
            }
            StoreError::Busy { .. }
            | StoreError::Unknown { .. }
            | StoreError::BadKey { .. }
            | StoreError::Damaged { .. }
            | StoreError::TooLong { .. }
            | StoreError::Exists { .. } => Self::new(ErrorKind::User, sentence(&error.to_string())),
        };
        match hint {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    }
}

/// Makes a stranger's text fit for one line.
fn one_line(text: &str) -> String {
    let spaced = plain(text, ' ');
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}
