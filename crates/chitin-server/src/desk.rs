//! What a page asks about workspaces, and who answers. The server knows sessions and messages; files, prompts, skills, memory and
//! traces are known to whoever makes agents.

use chitin_gateway::HostError;
use serde_json::Value;

/// Answers what a page asks about workspaces. Called where waiting for the disk is fine.
pub trait Desk: Send + Sync {
    /// Answers. What comes back is sent as it is.
    fn answer(&self, ask: Ask) -> Result<Value, DeskError>;
}

/// A question, or a wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// The turns of a session, the newest first.
    Turns {
        /// The agent.
        agent: String,
        /// The session's key.
        session: String,
    },
    /// What the model got in a turn, or would get in the next one.
    Lens {
        /// The agent.
        agent: String,
        /// The session's key.
        session: String,
        /// The turn; none is the next one.
        turn: Option<String>,
    },
    /// The files of a workspace.
    Files {
        /// The agent.
        agent: String,
    },
    /// One file.
    File {
        /// The agent.
        agent: String,
        /// Its path below the workspace.
        path: String,
    },
    /// Writes a file.
    Save {
        /// The agent.
        agent: String,
        /// Its path below the workspace.
        path: String,
        /// What it says from now on.
        text: String,
        /// What was there when the author read it; none when it is new.
        version: Option<String>,
    },
    /// What the next turn would hold if a file said something else.
    Preview {
        /// The agent.
        agent: String,
        /// The file's path below the workspace.
        path: String,
        /// What it would say.
        text: String,
        /// The session; none is the agent's main one.
        session: Option<String>,
    },
    /// The skills of an agent.
    Skills {
        /// The agent.
        agent: String,
    },
    /// What is wrong with a workspace.
    Findings {
        /// The agent.
        agent: String,
    },
    /// How an agent's memory stands, or what it finds.
    Memory {
        /// The agent.
        agent: String,
        /// What is looked for; none asks how it stands.
        query: Option<String>,
        /// How much at most.
        limit: Option<usize>,
    },
    /// What turns left behind.
    Traces {
        /// Only of this agent.
        agent: Option<String>,
        /// Only of this session.
        session: Option<String>,
        /// How many at most.
        limit: usize,
    },
    /// One of them.
    Trace {
        /// Its id.
        id: String,
    },
}

impl Ask {
    /// Returns the agent that it is about.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Self::Turns { agent, .. }
            | Self::Lens { agent, .. }
            | Self::Files { agent }
            | Self::File { agent, .. }
            | Self::Save { agent, .. }
            | Self::Preview { agent, .. }
            | Self::Skills { agent }
            | Self::Findings { agent }
            | Self::Memory { agent, .. } => Some(agent),
            Self::Traces { agent, .. } => agent.as_deref(),
            Self::Trace { .. } => None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct DeskError {
    /// What kind of trouble it is.
    pub trouble: Trouble,
    /// What happened, as a sentence.
    pub message: String,
    /// What can be done about it.
    pub hint: Option<String>,
}

/// What kind of trouble it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// There is no such thing.
    Missing,
    /// The question makes no sense.
    Bad,
    /// It may not be.
    Refused,
    /// Something else is there than its author read.
    Conflict {
        /// What is there.
        current: Box<Value>,
    },
    /// It is too large.
    TooLarge,
    /// This server has nobody who knows.
    NotHere,
    /// Something went wrong.
    Failed,
}

impl DeskError {
    /// Makes one.
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Self {
            trouble,
            message: message.into(),
            hint: None,
        }
    }

    /// Nobody here knows.
    pub(crate) fn not_here() -> Self {
        Self::new(Trouble::NotHere, "This server does not provide that.")
    }

    /// Adds what can be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<HostError> for DeskError {
    fn from(error: HostError) -> Self {
        Self {
            hint: error.hint,
            ..Self::new(Trouble::Failed, error.message)
        }
    }
}
