//! What an agent's memory is made of.

use crate::chunk::ChunkOptions;
use crate::embed::Embedder;
use crate::search::ChunkSource;
use chitin_contract::MemoryRules;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Takes secrets out of a text.
pub type Redact = Arc<dyn for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync>;

/// Whose conversations the transcripts of an agent are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptOwner {
    /// All are this workspace's, wherever it was when they began: the agent is the directory.
    Agent,
    /// Those that began in this workspace: an agent that is configured may have lived elsewhere.
    Workspace,
}

/// What an agent's memory is made of.
#[derive(Clone)]
pub struct Setting {
    /// The workspace.
    pub workspace: PathBuf,
    /// The agent's id.
    pub agent: String,
    /// Where the index is kept.
    pub index: PathBuf,
    /// How memory works.
    pub rules: MemoryRules,
    /// How large pieces are.
    pub sizes: ChunkOptions,
    /// What is searched.
    pub sources: BTreeSet<ChunkSource>,
    /// Further files and directories of notes.
    pub extra_paths: Vec<String>,
    /// Where transcripts are kept, if past conversations are searched.
    pub transcripts: Option<PathBuf>,
    /// Whose conversations they are.
    pub owner: TranscriptOwner,
    /// Makes vectors, if there are to be any.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Takes secrets out of past conversations.
    pub redact: Redact,
}

impl fmt::Debug for Setting {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Setting")
            .field("workspace", &self.workspace)
            .field("index", &self.index)
            .field("sources", &self.sources)
            .finish_non_exhaustive()
    }
}
