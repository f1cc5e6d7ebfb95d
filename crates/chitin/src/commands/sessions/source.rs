//! Where sessions are read from: our own store, or OpenClaw's files.

use super::{Whose, refused};
use crate::error::{CliError, Kind};
use crate::printer::Printer;
use crate::terminal::words::one_line;
use chitin_protocol::agent_id::AgentId;
use chitin_runtime::Host;
use chitin_runtime::{Setup, Target, chitin_home};
use chitin_store::{
    FileStore, Inspection, OpenClawSessions, RandomIds, Reach, SessionEntry, SessionStore,
    StoreError,
};
use chitin_workspace::home;
use chitin_workspace::nearest::nearest;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

/// Keys that are offered when one is not known.
const OFFERED: usize = 5;

/// An agent's sessions.
pub(super) struct Source {
    pub(super) agent: AgentId,
    /// The workspace that the agent lives in.
    pub(super) workspace: PathBuf,
    pub(super) place: Place,
}

/// Who keeps them.
pub(super) enum Place {
    /// We do.
    Own {
        store: FileStore,
        /// Reads the same directory and never writes to it.
        files: OpenClawSessions,
    },
    /// OpenClaw does; they are only read.
    OpenClaw {
        files: OpenClawSessions,
        state: PathBuf,
    },
}

/// Whose files are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    Chitin,
    OpenClaw,
}

impl Keeper {
    /// Understands the flag.
    pub(super) const fn from_flag(openclaw: bool) -> Self {
        if openclaw {
            Self::OpenClaw
        } else {
            Self::Chitin
        }
    }
}

/// A file of a transcript.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
}

impl Source {
    pub(super) fn find(
        host: &Host,
        whose: &Whose,
        keeper: Keeper,
        printer: &Printer,
    ) -> Result<Self, CliError> {
        let target = Target {
            directory: whose.directory.clone(),
            agent: whose.agent.clone(),
            contract: whose.contract.clone(),
            ..Target::default()
        };
        let setup = Setup::find(host, &target, &printer.notes())?;
        if whose.directory.is_some() {
            setup.check_directory(host)?;
        }
        Self::of(host, &setup, keeper)
    }

    /// Finds the sessions of an agent that was found already.
    pub(super) fn of(host: &Host, setup: &Setup, keeper: Keeper) -> Result<Self, CliError> {
        let agent = setup.agent.clone();
        let place = match keeper {
            Keeper::Chitin => {
                let state = chitin_home(host).ok_or_else(|| {
                    CliError::new(Kind::User, "There is no place where sessions are kept.")
                        .hint("set `CHITIN_HOME` or `HOME`")
                })?;
                let directory = FileStore::directory_of(&state, agent.as_str());
                let rules = &setup.contract().runtime.transcript;
                Place::Own {
                    store: FileStore::new(directory, rules, RandomIds),
                    files: OpenClawSessions::at(state),
                }
            }
            Keeper::OpenClaw => {
                let state = home::state_directory(&host.env, &setup.contract().agents).map_err(
                    |error| {
                        CliError::new(Kind::User, "OpenClaw's directory cannot be worked out.")
                            .caused_by(error)
                    },
                )?;
                Place::OpenClaw {
                    files: OpenClawSessions::at(state.clone()),
                    state,
                }
            }
        };
        Ok(Self {
            agent,
            workspace: setup.directory.clone(),
            place,
        })
    }

    /// Returns the directory, for people.
    pub(super) fn directory(&self) -> PathBuf {
        match &self.place {
            Place::Own { store, .. } => store.directory().to_path_buf(),
            Place::OpenClaw { state, .. } => FileStore::directory_of(state, self.agent.as_str()),
        }
    }

    /// Returns every session, the most recently used first.
    pub(super) fn list(&self) -> Result<Vec<(String, SessionEntry)>, CliError> {
        match &self.place {
            Place::Own { store, .. } => store.list(),
            Place::OpenClaw { files, .. } => files.list(self.agent.as_str()),
        }
        .map_err(refused)
    }

    /// Returns the files of transcripts by name.
    pub(super) fn files(&self) -> Result<HashMap<String, File>, CliError> {
        let (Place::Own { files, .. } | Place::OpenClaw { files, .. }) = &self.place;
        let found = files.transcripts(self.agent.as_str()).map_err(refused)?;
        let named = found.into_iter().map(|file| {
            let known = File {
                path: file.path,
                bytes: file.bytes,
            };
            (file.name, known)
        });
        Ok(named.collect())
    }

    /// Finds the key that the user means: as it is, or with the agent before it.
    pub(super) fn key(&self, asked: &str) -> Result<String, CliError> {
        let known = self.list()?;
        let asked = asked.trim();
        let long = self.long_key(asked);
        let exact = [asked, long.as_str()]
            .into_iter()
            .find(|key| known.iter().any(|(known, _)| known == key));
        if let Some(key) = exact {
            return Ok(key.to_owned());
        }
        let failed = CliError::new(
            Kind::User,
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
    pub(super) fn long_key(&self, key: &str) -> String {
        if key.starts_with("agent:") {
            return key.to_owned();
        }
        format!("agent:{}:{key}", self.agent)
    }

    /// Reads a session.
    pub(super) fn read(&self, key: &str, reach: Reach) -> Result<Inspection, CliError> {
        match &self.place {
            Place::Own { store, .. } => store.inspect(key, reach),
            Place::OpenClaw { files, .. } => files.read(self.agent.as_str(), key, reach),
        }
        .map_err(refused)
    }

    /// Writes a session's transcript somewhere, byte for byte.
    pub(super) fn copy(&self, key: &str, to: &mut dyn Write) -> Result<u64, StoreError> {
        match &self.place {
            Place::Own { store, .. } => store.export(key, to),
            Place::OpenClaw { files, .. } => files.export(self.agent.as_str(), key, to),
        }
    }
}
