//! Where the context of a turn comes from: the workspace is looked at again for every turn.

use chitin_context::Context;
use chitin_context::memory_results::MemoryResult;
use chitin_protocol::message::Message;
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::TranscriptEntry;
use chitin_tools::GuestRights;
use chitin_workspace::adapter::LazyDefinition;
use chitin_workspace::filter::{ContextMode, RunKind};
use futures_util::future::BoxFuture;
use std::path::PathBuf;
use std::sync::Arc;

/// Looks at the workspace. Implemented by whoever knows the configuration: the command line, a server.
///
/// An implementor reads the disk anew for every turn (what did not change may be remembered by fingerprint) and returns the
/// same context for an unchanged workspace and the same question.
pub trait ContextSource: Send + Sync {
    /// Puts the context of a turn together.
    fn look(&self, ask: &ContextRequest<'_>) -> Result<PreparedContext, SourceError>;

    /// The session was reset or compacted: a session that kept what it began with looks again.
    fn release(&self, session_key: &str);

    /// Returns the definition of the agent, to be made when a tool, an engine or a guard asks for it. The agent asks on every
    /// turn, so that edits show. Left out, there is none.
    fn definition(&self) -> LazyDefinition {
        LazyDefinition::none()
    }

    /// Finds in memory what fits somebody's words, before the context is put together. Never waits long and never fails: what
    /// cannot be found is a note. Left out, nothing is remembered.
    fn recall<'a>(&'a self, _ask: RecallAsk<'a>) -> BoxFuture<'a, Recalled> {
        Box::pin(std::future::ready(Recalled::default()))
    }
}

/// What is to be remembered.
#[derive(Debug, Clone, Copy)]
pub struct RecallAsk<'a> {
    /// The session.
    pub session_key: &'a str,
    /// The session's id: what it said itself need not be found.
    pub session_id: &'a str,
    /// Somebody's words.
    pub words: &'a str,
    /// What starts the turn.
    pub occasion: &'a Occasion,
    /// Set when the turn answers a guest.
    pub guest: Option<GuestRights>,
}

/// What was remembered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// What was found, the best first.
    pub results: Vec<MemoryResult>,
    /// What people should know.
    pub notes: Vec<String>,
    /// Where the results stand.
    pub paths: Vec<RecalledPath>,
}

/// Where something stands that was remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecalledPath {
    /// In a note of the workspace.
    Note(String),
    /// In another conversation.
    Conversation {
        /// The name under which it is found.
        path: String,
        /// Where the text comes from that was in it by then, as far as it is not the owner's.
        origins: Vec<Origin>,
    },
}

/// What the context of a turn depends on, besides the workspace and the configuration.
#[derive(Debug, Clone, Copy)]
pub struct ContextRequest<'a> {
    /// The session.
    pub session_key: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// Whether a full first turn is marked in the transcript.
    pub marked: bool,
    /// The model, as `provider/name`.
    pub model: &'a str,
    /// The tools that are offered.
    pub tools: &'a [ToolSpec],
    /// What starts the turn, and where its words come from.
    pub occasion: &'a Occasion,
    /// What was found in memory for this turn.
    pub memory: &'a [MemoryResult],
    /// The session's records so far.
    pub records: &'a [TranscriptEntry],
    /// Set when the turn answers a guest.
    pub guest: Option<GuestRights>,
}

impl ContextRequest<'_> {
    /// Tells whether a message of the user in this session ends with a notice already.
    pub fn is_told(&self, notice: &str) -> bool {
        self.records.iter().any(|entry| match entry.message() {
            Some(Message::User(message)) => message.content.text().ends_with(notice),
            Some(Message::Assistant(_) | Message::ToolResult(_) | Message::Other(_)) | None => {
                false
            }
        })
    }
}

/// What starts a turn, and where its words come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occasion {
    /// What starts it, as far as the context depends on it.
    pub run: RunKind,
    /// What starts it, as it is recorded.
    pub trigger: Trigger,
    /// How much context it asks for.
    pub context: ContextMode,
    /// The channel of the conversation, such as `discord`.
    pub channel: Option<String>,
    /// Text for the prompt that is about this session alone: a group chat, or the task of a spawned run.
    pub extra: Option<Arc<str>>,
}

/// What starts a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trigger {
    /// A message of a person or a program.
    #[default]
    User,
    /// A heartbeat.
    Heartbeat,
    /// A scheduled job.
    Cron,
    /// A hook.
    Hook,
    /// The task of a spawned run.
    Subagent,
    /// The outcome of a spawned run, told to whoever spawned it.
    Announce,
    /// A message of another session.
    Session,
}

impl Trigger {
    /// Returns which kind of run it is to the rules of contexts.
    pub const fn run_kind(self) -> RunKind {
        match self {
            Self::Heartbeat => RunKind::Heartbeat,
            Self::Cron => RunKind::Cron,
            Self::User | Self::Hook | Self::Subagent | Self::Announce | Self::Session => {
                RunKind::Default
            }
        }
    }

    /// Returns the word that is recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Heartbeat => "heartbeat",
            Self::Cron => "cron",
            Self::Hook => "hook",
            Self::Subagent => "subagent",
            Self::Announce => "announce",
            Self::Session => "session",
        }
    }
}

/// What a look at the workspace gave.
#[derive(Debug, Clone)]
pub struct PreparedContext {
    /// Exactly what the model gets besides the conversation.
    pub context: Arc<Context>,
    /// What people should know.
    pub notes: Vec<String>,
    /// The directories of skills outside of the workspace that the context offers: tools may read there.
    pub skill_roots: Vec<PathBuf>,
    /// Whether a turn that ends well is to be marked as a full first turn.
    pub mark_when_done: bool,
}

/// Why there is no context.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// What happened, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
