//! An agent's memory on this machine: made when something is first looked up, and not before.

mod embedder;
mod options;
mod past;
mod recall;
mod remote;
mod search;
mod status;
mod tools;

pub use embedder::words_file;
pub use options::MemoryOptions;
pub use recall::{PastSessions, RecallMessage};
pub use search::{MemoryHit, MemorySearch};
pub use status::{IndexFigures, IndexStatus, MemoryStatus, RecallStatus};
pub use tools::MemoryToolset;
pub(crate) use tools::definitions;

use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::AgentIdOrigin;
use crate::setup::Setup;
use chitin_check::redact_secrets;
use chitin_contract::GroupMemory;
use chitin_memory::keeper::{Memory, Setting, TranscriptOwner, conversation_path, index_name};
use chitin_memory::search::{ChunkSource, FindError, Within};
use chitin_protocol::session_key::{self, ChatType};
use chitin_store::FileStore;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Where indexes are, in Chitin's home. They are made again from notes and transcripts.
pub(crate) const INDEXES: &str = "memory";

/// An agent's memory, not made yet.
pub struct AgentMemory {
    host: Arc<Host>,
    setup: Arc<Setup>,
    state: PathBuf,
    /// How it is searched.
    pub options: MemoryOptions,
    made: OnceLock<Made>,
}

/// A memory, and what people should know of it.
pub struct Made {
    /// The memory.
    pub memory: Memory,
    /// What people should know of it.
    pub notes: Vec<String>,
}

impl AgentMemory {
    /// Prepares the memory of an agent; nothing is opened.
    pub fn new(host: &Arc<Host>, setup: &Arc<Setup>, state: &Path) -> Self {
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        Self {
            options: MemoryOptions::read(setup, &own.memory),
            host: Arc::clone(host),
            setup: Arc::clone(setup),
            state: state.to_path_buf(),
            made: OnceLock::new(),
        }
    }

    /// Makes one for a single look.
    pub(crate) fn for_one_look(host: &Host, setup: &Setup, state: &Path) -> Self {
        Self::new(&Arc::new(host.clone()), &Arc::new(setup.clone()), state)
    }

    /// Returns the memory. A runtime must be running if vectors come over the network.
    pub fn made(&self) -> &Made {
        self.made.get_or_init(|| self.make())
    }

    /// Returns the memory itself.
    pub fn memory(&self) -> &Memory {
        &self.made().memory
    }

    /// Returns where the index is kept.
    pub(crate) fn index_file(&self) -> PathBuf {
        let name = index_name(self.setup.agent.as_str(), &self.setup.directory);
        self.state.join(INDEXES).join(name)
    }

    fn make(&self) -> Made {
        let (setup, options) = (&self.setup, &self.options);
        let rules = options.rules(setup.contract().runtime.memory);
        let (embedder, notes) = embedder::choose(&self.host, setup, &self.state, options);
        let redactor = self.host.secrets.clone();
        let mut sources = std::collections::BTreeSet::new();
        if options.files {
            sources.insert(ChunkSource::Memory);
        }
        let transcripts = self.transcripts();
        if transcripts.is_some() {
            sources.insert(ChunkSource::Sessions);
        }
        let memory = Memory::new(Setting {
            workspace: setup.directory.clone(),
            agent: setup.agent.to_string(),
            index: self.index_file(),
            sizes: options.sizes(&rules),
            rules,
            sources,
            extra_paths: options.extra_paths.clone(),
            transcripts,
            owner: match setup.identity {
                AgentIdOrigin::Directory => TranscriptOwner::Agent,
                AgentIdOrigin::Configured | AgentIdOrigin::Named => TranscriptOwner::Workspace,
            },
            embedder,
            redact: Arc::new(move |text| Cow::Owned(redactor.redact(&redact_secrets(text)))),
        });
        Made { memory, notes }
    }

    /// Returns where transcripts are, if past conversations are searched.
    fn transcripts(&self) -> Option<PathBuf> {
        let agent = self.setup.agent.as_str();
        let sessions = self.options.sessions;
        sessions.then(|| FileStore::directory_of(&self.state, agent))
    }

    /// Returns the name under which a session's transcript is found.
    fn conversation_path(&self, session_id: &str) -> String {
        let rules = &self.setup.contract().runtime.memory.archive;
        conversation_path(self.setup.agent.as_str(), session_id, rules)
    }

    /// Returns where a session may look. Conversations are the owner's: only the agent's main session finds them again, and where
    /// others read along, what they may not see is not found either.
    pub fn within(&self, session: &str) -> Within {
        let mut within = Within::default();
        if self.options.files {
            within.sources.insert(ChunkSource::Memory);
        }
        let main = format!("agent:{}:main", self.setup.agent);
        if self.options.sessions && session == main {
            within.sources.insert(ChunkSource::Sessions);
        }
        let shared = matches!(
            session_key::chat_type(session),
            Some(ChatType::Group | ChatType::Channel)
        );
        if shared && self.setup.contract().filters.group_memory == GroupMemory::Dropped {
            within
                .without
                .insert(chitin_memory::compat::CURATED_FILES[0].to_owned());
        }
        within
    }
}

/// Says that memory cannot be searched, and what to do about it.
pub fn unsearchable(error: FindError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, "Could not search memory.")
        .caused_by(error)
        .hint("the index is a cache: `chitin memory index --rebuild` rebuilds it")
}
