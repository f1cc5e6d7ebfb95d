//! What a tool is.

use crate::rights::Rights;
use chitin_protocol::message::Block;
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use chitin_workspace::adapter::{AgentDefinition, DefinitionError, LazyDefinition};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A tool that a model can call. Implementors never panic on any arguments, stop soon after `cancel`, keep their output
/// within [`CallContext::max_output_bytes`], and report failure as an outcome that the model can read.
pub trait Tool: Send + Sync {
    /// Returns what the model is told.
    fn spec(&self) -> &ToolSpec;

    /// Says whether calls may run beside each other.
    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Alone
    }

    /// Does the work.
    fn call<'a>(
        &'a self,
        arguments: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// A tool whose arguments have a type. Implementors promise what those of [`Tool`] do; what they implement is only the work,
/// because every typed tool is a [`Tool`].
pub trait TypedTool: Send + Sync {
    /// What a model sends. Arguments that do not fit are refused with what was expected.
    type Arguments: DeserializeOwned + Send;

    /// Whether calls may run beside each other.
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Alone;

    /// Returns what the model is told.
    fn spec(&self) -> &ToolSpec;

    /// Does the work, or says what went wrong. Safe to cancel where the tool's own documentation says so.
    fn run(
        &self,
        asked: Self::Arguments,
        context: &CallContext<'_>,
    ) -> impl Future<Output = Result<ToolOutcome, String>> + Send;
}

impl<Typed: TypedTool> Tool for Typed {
    fn spec(&self) -> &ToolSpec {
        TypedTool::spec(self)
    }

    fn concurrency(&self) -> ToolConcurrency {
        Typed::CONCURRENCY
    }

    fn call<'a>(
        &'a self,
        arguments: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        async move {
            let done = match crate::schema::arguments(TypedTool::spec(self), arguments) {
                Ok(asked) => self.run(asked, context).await,
                Err(problem) => Err(problem),
            };
            done.unwrap_or_else(ToolOutcome::error)
        }
        .boxed()
    }
}

/// Whether calls of a tool may run beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolConcurrency {
    /// It changes something: calls run one after the other, in order.
    Alone,
    /// It only looks: calls may run beside other calls that only look.
    Shared,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// What the model sees.
    pub content: Vec<Block>,
    /// What only people and programs see.
    pub details: Option<Value>,
    /// Whether it failed.
    pub is_error: bool,
    /// Where its text comes from, as far as it is not the owner's.
    pub origins: Vec<Origin>,
}

impl ToolOutcome {
    /// Makes an outcome of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Block::text(text)],
            details: None,
            is_error: false,
            origins: Vec::new(),
        }
    }

    /// Makes an outcome that the model reads as JSON, and that programs find in the details.
    pub fn json(value: Value) -> Self {
        Self::text(value.to_string()).with_details(value)
    }

    /// Makes an outcome that says what went wrong.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// Says where its text comes from that is not the owner's.
    #[must_use]
    pub fn from(mut self, origins: impl IntoIterator<Item = Origin>) -> Self {
        self.origins.extend(origins);
        self
    }

    /// Adds what only people and programs see.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// What a call may know of its surroundings.
pub struct CallContext<'a> {
    /// The workspace.
    pub workspace: &'a Path,
    /// Where Chitin and OpenClaw keep settings, keys and sessions. No tool reaches into them.
    pub state_roots: &'a [PathBuf],
    /// What the adapter made of the workspace; [`Self::definition`] asks for it.
    pub agent: &'a LazyDefinition,
    /// What the call may do, by whose words the turn follows and which others it holds.
    pub rights: &'a Rights,
    /// The session.
    pub session_key: &'a str,
    /// Directories of skills outside of the workspace. Tools may read there.
    pub skill_roots: &'a [PathBuf],
    /// The provider's name for the call.
    pub call_id: &'a str,
    /// Stops the call.
    pub cancel: &'a CancellationToken,
    /// How much text the outcome may have.
    pub max_output_bytes: usize,
    /// Says how far the call is.
    pub progress: &'a (dyn Fn(&str) + Send + Sync),
    /// Asks for permission.
    pub approver: &'a dyn Approver,
}

impl CallContext<'_> {
    /// Returns the definition of the agent that the call belongs to: its files one by one, the composed prompt, skill paths
    /// and extension files. It is made on the first request of a turn and shared by all others.
    pub async fn definition(&self) -> Result<Arc<AgentDefinition>, DefinitionError> {
        definition_of(self.agent).await
    }
}

/// Returns a definition without holding up an asynchronous worker.
pub async fn definition_of(
    agent: &LazyDefinition,
) -> Result<Arc<AgentDefinition>, DefinitionError> {
    if let Some(made) = agent.made() {
        return made;
    }
    let agent = agent.clone();
    let made = tokio::task::spawn_blocking(move || agent.get()).await;
    made.unwrap_or_else(|error| Err(DefinitionError(error.to_string())))
}

impl std::fmt::Debug for CallContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallContext")
            .field("workspace", &self.workspace)
            .field("session_key", &self.session_key)
            .field("call_id", &self.call_id)
            .finish_non_exhaustive()
    }
}

/// Somebody who can be asked. Implemented by the terminal, by the page and, where nobody can be asked, by one that says no.
pub trait Approver: Send + Sync {
    /// Asks whether something may be done.
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval>;

    /// Tells whether somebody is there to be asked. What is only asked about for caution's sake is not asked of nobody.
    fn is_there(&self) -> bool {
        false
    }
}

/// A question for permission.
#[derive(Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The session that it comes from; whoever makes the request need not know it.
    pub session_key: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// What is to be done, in one line.
    pub what: &'a str,
    /// Which rule wants it asked.
    pub why: &'a str,
    /// What would change, as a unified diff, where it is a change of files.
    pub diff: Option<&'a str>,
    /// What an answer for good would allow; none where every call is asked about.
    pub pattern: Option<&'a str>,
    /// Tells whether a pattern that was allowed earlier covers this.
    pub covered_by: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

impl std::fmt::Debug for ApprovalRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("tool", &self.tool)
            .field("what", &self.what)
            .field("pattern", &self.pattern)
            .finish_non_exhaustive()
    }
}

/// An answer to a question for permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// This once.
    Once,
    /// For the rest of the session.
    Session,
    /// For everything that the offered pattern covers, until the owner takes it back.
    Always,
    /// No, and why if the person said so.
    Denied(Option<String>),
    /// Nobody is there to be asked, or nobody answered; if there is more to say, this.
    Nobody(Option<String>),
}

impl Approval {
    /// Returns the end of a sentence about something that was not done, which says who wanted it so.
    pub fn refusal(&self) -> String {
        match self {
            Self::Once | Self::Session | Self::Always => String::new(),
            Self::Denied(None) => "the user denied it".to_owned(),
            Self::Denied(Some(reason)) => format!("the user denied it and said: {reason}"),
            Self::Nobody(None) => {
                "it needs the owner's approval, and there is nobody to ask".to_owned()
            }
            Self::Nobody(Some(reason)) => format!("it needs the owner's approval, and {reason}"),
        }
    }
}
