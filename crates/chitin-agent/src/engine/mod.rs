//! Context engines: who decides what of a conversation a model sees again (S13, C1–C4).
//!
//! An engine is asked before and after each turn. The session layer owns the records and hands the branch in; an engine
//! that keeps its own store may answer from there. [`EngineRegistry`] holds the engines that there are, and picks one by the
//! configuration. [`Legacy`] passes a conversation on as the session layer made it, and puts it into a summary with
//! [`compact`] when it grows too long.

mod choice;
mod compact;
mod legacy;
mod registry;

pub use choice::{EngineChoice, choose};
pub use compact::{
    CompactError, CompactOrder, Compacted, CompactionOutcome, Summarizer, SummaryError, When,
    compact,
};
pub use legacy::Legacy;
pub use registry::{EngineFactory, EngineRegistry, Registration, Resolved, slot};

use chitin_protocol::message::Message;
use chitin_protocol::transcript::TranscriptEntry;
use chitin_tools::definition_of;
use chitin_workspace::adapter::{AgentDefinition, DefinitionError, LazyDefinition};
use futures_util::future::BoxFuture;
use serde::Serialize;
use std::sync::Arc;

/// What an engine says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EngineInfo {
    /// The id, by which the configuration picks it.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it decides by itself when to compact; the runtime then leaves that alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owns_compaction: Option<bool>,
}

/// The session that an engine is asked about.
#[derive(Debug, Clone, Copy)]
pub struct SessionRef<'a> {
    /// The session's id.
    pub id: &'a str,
    /// The session's key.
    pub key: &'a str,
    /// What the adapter made of the agent's workspace; [`Self::definition`] asks for it.
    pub agent: &'a LazyDefinition,
}

impl SessionRef<'_> {
    /// Returns the definition of the agent. It is made on the first request of a turn and shared by all others.
    pub async fn definition(&self) -> Result<Arc<AgentDefinition>, DefinitionError> {
        definition_of(self.agent).await
    }
}

/// What an engine made of the records that it was given at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrapped {
    /// Whether it took anything in.
    pub bootstrapped: bool,
    /// How many messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_messages: Option<usize>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether an engine took a message in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ingested {
    /// Whether it did.
    pub ingested: bool,
}

/// What is about to be sent, before an engine has seen it.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The messages that the session layer made of the branch.
    pub messages: Vec<Message>,
    /// How many tokens they may take.
    pub token_budget: u64,
    /// The model, as `provider/name`.
    pub model: String,
    /// What the user says now.
    pub prompt: Option<String>,
}

/// What an engine lets the model see.
#[derive(Debug, Clone, PartialEq)]
pub struct AssembledContext {
    /// The messages.
    pub messages: Vec<Message>,
    /// How many tokens they take; 0 if the engine does not count.
    pub estimated_tokens: u64,
    /// What is added to the system prompt, after the cache boundary.
    pub system_prompt_addition: Option<String>,
}

/// What a turn added.
#[derive(Debug, Clone, Copy)]
pub struct TurnEnd<'a> {
    /// The branch with the turn's records.
    pub branch: &'a [TranscriptEntry],
    /// How many records there were before the turn.
    pub records_before: usize,
    /// Whether the turn was a heartbeat.
    pub is_heartbeat: bool,
}

/// Two sessions, one of which is about to be started by the other.
#[derive(Debug, Clone, Copy)]
pub struct Spawn<'a> {
    /// The session that starts the other.
    pub parent_session_key: &'a str,
    /// The session that is started.
    pub child_session_key: &'a str,
}

/// Why a subagent's session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubagentEnd {
    /// It was deleted.
    Deleted,
    /// It is done.
    Completed,
    /// It was cleared away.
    Swept,
    /// Its parent let go of it.
    Released,
}

/// What maintenance changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Maintained {
    /// Whether anything changed.
    pub changed: bool,
    /// How many bytes were freed.
    pub bytes_freed: u64,
    /// How many records were rewritten.
    pub rewritten_entries: usize,
}

/// Why an engine could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum EngineError {
    /// The engine could not be made.
    #[error("The context engine `{id}` could not be started: {reason}")]
    NotStarted {
        /// The engine.
        id: String,
        /// Why.
        reason: String,
    },
    /// The engine failed at something.
    #[error("The context engine `{id}` failed at {operation}: {reason}")]
    Failed {
        /// The engine.
        id: String,
        /// What it was asked.
        operation: &'static str,
        /// Why.
        reason: String,
    },
    /// There is no engine to fall back to.
    #[error("The context engine `{id}` is not registered, and neither is the built-in one.")]
    NoDefault {
        /// The engine that was asked for.
        id: String,
    },
    /// A compaction could not be done.
    #[error(transparent)]
    Compaction(#[from] CompactError),
}

/// Decides what of a conversation a model sees again.
///
/// Implemented by [`Legacy`] and by whoever keeps a context of their own. The order of calls: `bootstrap` once, if the
/// session existed before; `assemble` before each request of a turn's first call; `after_turn` when the turn is stored, or
/// `ingest` for each of its messages where an engine leaves `after_turn` as it is; `maintain` after a turn without error;
/// `compact` when the window is nearly full or somebody asks; `dispose` at the end. An implementor must not change
/// records: what it wants forgotten it leaves out of `assemble`. Looks at a context (`chitin context`, `--dry-run`, the page) call
/// `assemble` and nothing else, without `bootstrap` before it, and with an empty id for a session that does not exist yet: it
/// must not change what later calls answer. Futures may be dropped at any point (somebody pressed
/// Ctrl-C); the next call must find the engine usable.
pub trait ContextEngine: Send + Sync {
    /// Says who this is.
    fn info(&self) -> EngineInfo;

    /// Says whether `assemble` gives back what it is given. The agent then spares itself the copies.
    fn passes_through(&self) -> bool {
        false
    }

    /// Takes in the records of a session that existed before.
    fn bootstrap<'a>(
        &'a self,
        _session: SessionRef<'a>,
        _branch: &'a [TranscriptEntry],
    ) -> BoxFuture<'a, Result<Bootstrapped, EngineError>> {
        Box::pin(async { Ok(Bootstrapped::default()) })
    }

    /// Takes in one message.
    fn ingest<'a>(
        &'a self,
        session: SessionRef<'a>,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Ingested, EngineError>>;

    /// Says what the model sees.
    fn assemble<'a>(
        &'a self,
        session: SessionRef<'a>,
        assembly: Assembly,
    ) -> BoxFuture<'a, Result<AssembledContext, EngineError>>;

    /// Puts a conversation into a summary. The session layer stores the record that comes back.
    fn compact<'a>(
        &'a self,
        session: SessionRef<'a>,
        order: &'a CompactOrder<'a>,
        summarizer: &'a dyn Summarizer,
    ) -> BoxFuture<'a, Result<CompactionOutcome, EngineError>>;

    /// Hears that a turn is stored.
    fn after_turn<'a>(
        &'a self,
        session: SessionRef<'a>,
        turn: TurnEnd<'a>,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let new = turn.branch.get(turn.records_before..).unwrap_or_default();
            for message in new.iter().filter_map(TranscriptEntry::message) {
                self.ingest(session, message).await?;
            }
            Ok(())
        })
    }

    /// Hears that a session is about to start another one. An error stops the start.
    fn prepare_subagent_spawn<'a>(
        &'a self,
        _spawn: Spawn<'a>,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async { Ok(()) })
    }

    /// Hears that a subagent's session ended.
    fn on_subagent_ended<'a>(
        &'a self,
        _child_session_key: &'a str,
        _end: SubagentEnd,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async { Ok(()) })
    }

    /// Tidies up between turns.
    fn maintain<'a>(
        &'a self,
        _session: SessionRef<'a>,
    ) -> BoxFuture<'a, Result<Maintained, EngineError>> {
        Box::pin(async { Ok(Maintained::default()) })
    }

    /// Lets go of everything.
    fn dispose(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
