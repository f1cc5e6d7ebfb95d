//! OpenClaw's own sessions (R15): read where they lie, never written, never locked.

use crate::compat;
use crate::disk::{Directory, File, Listed, Open};
use crate::file_store::{self, FileStore};
use crate::index::{Index, NoIndex};
use crate::names;
use crate::read::{BranchReach, TranscriptInspection};
use crate::store::{Begin, SessionEntry, StoreError};
use crate::transfer;
use std::io::Write;
use std::path::{Path, PathBuf};

/// OpenClaw's own sessions in its state directory.
#[derive(Debug, Clone)]
pub struct OpenClawSessions {
    state: PathBuf,
}

/// A transcript of OpenClaw's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenClawTranscript {
    /// The file's name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How long it is.
    pub bytes: u64,
    /// When it was last written to, in milliseconds since 1970.
    pub updated_at: i64,
}

impl OpenClawSessions {
    /// Looks into a state directory such as `~/.openclaw`.
    pub fn at(state: impl Into<PathBuf>) -> Self {
        Self {
            state: state.into(),
        }
    }

    /// Returns the agents that have sessions, by name.
    pub fn agents(&self) -> Result<Vec<String>, StoreError> {
        let Some(directory) = Directory::open(&self.state.join(compat::AGENTS))? else {
            return Ok(Vec::new());
        };
        let mut agents = Vec::new();
        for name in directory.names()? {
            if !name.starts_with('.') && self.sessions_of(&name).is_ok_and(|found| found.is_some())
            {
                agents.push(name);
            }
        }
        agents.sort();
        Ok(agents)
    }

    /// Returns an agent's sessions, the most recently used first. An index that cannot be read has none.
    pub fn list(&self, agent: &str) -> Result<Vec<(String, SessionEntry)>, StoreError> {
        let Some(directory) = self.sessions_of(agent)? else {
            return Ok(Vec::new());
        };
        let index = match Index::read_foreign(&directory)? {
            Ok(index) => index,
            Err(NoIndex::Missing | NoIndex::Damaged) => return Ok(Vec::new()),
        };
        index.list()
    }

    /// Returns an agent's transcripts, by name: also those of topics, and those that the index does not name.
    pub fn transcripts(&self, agent: &str) -> Result<Vec<OpenClawTranscript>, StoreError> {
        let Some(directory) = self.sessions_of(agent)? else {
            return Ok(Vec::new());
        };
        let files: Vec<Listed> = directory.list(names::is_transcript)?;
        Ok(files
            .into_iter()
            .map(|file| OpenClawTranscript {
                path: directory.path_of(&file.name),
                name: file.name,
                bytes: file.bytes,
                updated_at: file.modified_ms,
            })
            .collect())
    }

    /// Returns one of an agent's transcripts by its name.
    pub fn transcript(
        &self,
        agent: &str,
        name: &str,
    ) -> Result<Option<OpenClawTranscript>, StoreError> {
        let Some(directory) = self
            .sessions_of(agent)?
            .filter(|_| names::is_transcript(name))
        else {
            return Ok(None);
        };
        let file = directory.listed(name)?;
        Ok(file.map(|file| OpenClawTranscript {
            path: directory.path_of(&file.name),
            name: file.name,
            bytes: file.bytes,
            updated_at: file.modified_ms,
        }))
    }

    /// Reads a session: by its key, or by the name of its transcript.
    pub fn read(
        &self,
        agent: &str,
        session: &str,
        reach: BranchReach,
    ) -> Result<TranscriptInspection, StoreError> {
        file_store::inspect(&self.file(agent, session)?, reach)
    }

    /// Writes a session's transcript to somewhere else, byte for byte, up to the last whole line.
    pub fn export(
        &self,
        agent: &str,
        session: &str,
        to: &mut dyn Write,
    ) -> Result<u64, StoreError> {
        transfer::export(&self.file(agent, session)?, to)
    }

    /// Copies a session into a store of ours under a key. See [`FileStore::import`].
    pub fn import_into(
        &self,
        store: &FileStore,
        (agent, session): (&str, &str),
        session_key: &str,
        begin: &Begin<'_>,
    ) -> Result<SessionEntry, StoreError> {
        store.import_file(session_key, &self.file(agent, session)?, begin)
    }

    fn file(&self, agent: &str, session: &str) -> Result<File, StoreError> {
        let unknown = || StoreError::Unknown {
            key: session.to_owned(),
        };
        let directory = self.sessions_of(agent)?.ok_or_else(unknown)?;
        let name = if names::is_transcript(session) {
            session.to_owned()
        } else {
            let index = Index::read_foreign(&directory)?.map_err(|_| unknown())?;
            let entry = index.get(session)?.ok_or_else(unknown)?;
            entry.transcript_name().ok_or_else(unknown)?
        };
        directory.file(&name, Open::Read)?.ok_or_else(unknown)
    }

    fn sessions_of(&self, agent: &str) -> Result<Option<Directory>, StoreError> {
        if agent.is_empty() || agent.contains(['/', '\0']) || agent.starts_with('.') {
            return Ok(None);
        }
        let path: &Path = &self
            .state
            .join(compat::AGENTS)
            .join(agent)
            .join(compat::SESSIONS);
        Directory::open(path)
    }
}
