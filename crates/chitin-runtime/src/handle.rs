//! One agent, as a caller holds it.

use crate::context::report::ContextReport;
use crate::context::{Caller, TokenCounting, TurnContext, TurnRequest};
use crate::conversation::{Conversation, ConversationRequest};
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::{AgentFactory, ModelSelection};
use crate::memory::AgentMemory;
use crate::tools::User;
use chitin_agent::turn::{Agent, TurnError, TurnInput, TurnReport};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::message::ImageBlock;
use chitin_store::FileStore;
use chitin_tools::Approver;
use chitin_workspace::adapter::AgentDefinition;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many events wait for a slow listener before the turn waits too.
const WAITING_EVENTS: usize = 256;
/// How many sessions keep what their turns share. When there are more, all of it is made again.
const MOST_SESSIONS: usize = 256;

/// An agent: its context, its turns, its sessions and its memory.
pub struct AgentHandle {
    factory: AgentFactory,
    model: Option<String>,
    approver: Arc<dyn Approver>,
    /// By session: which tools there are depends on it.
    agents: Mutex<HashMap<String, Arc<Agent>>>,
}

/// What is said to an agent.
#[derive(Debug, Clone, Default)]
pub struct TurnMessage {
    /// The text.
    pub text: String,
    /// The session's key; left out, the agent's main session.
    pub session: Option<String>,
    /// Whether a new session begins.
    pub new_session: bool,
    /// Pictures that go with the text.
    pub images: Vec<ImageBlock>,
}

/// A turn that runs. Dropping it stops the turn; what was said so far is kept.
pub struct TurnStream {
    events: mpsc::Receiver<TurnEvent>,
    task: JoinHandle<Result<TurnReport, TurnError>>,
    _stop: DropGuard,
}

impl AgentHandle {
    pub(crate) fn new(
        factory: AgentFactory,
        model: Option<String>,
        approver: Arc<dyn Approver>,
    ) -> Self {
        Self {
            factory,
            model,
            approver,
            agents: Mutex::default(),
        }
    }

    /// Returns the agent's id.
    pub fn id(&self) -> &str {
        self.factory.setup.agent.as_str()
    }

    /// Returns its workspace.
    pub fn directory(&self) -> &Path {
        &self.factory.setup.directory
    }

    /// Returns what the adapter that claims the directory makes of it.
    pub fn definition(&self) -> Result<AgentDefinition, RuntimeError> {
        self.factory.setup.definition(&self.factory.host)
    }

    /// Returns the context of a turn: exactly what `chitin context` shows. The context engine is asked too, on a thread of its
    /// own, and the call waits for it.
    pub fn context(&self, request: &TurnRequest) -> Result<TurnContext, RuntimeError> {
        self.factory.context(&self.asked(request))
    }

    /// Returns the same in figures: what `chitin context --json` prints.
    pub fn report(&self, request: &TurnRequest) -> Result<ContextReport, RuntimeError> {
        let request = &self.asked(request);
        let context = self.factory.context(request)?;
        let (host, setup) = (&self.factory.host, &self.factory.setup);
        let tokens = TokenCounting::Estimate;
        Ok(ContextReport::new(request, tokens, host, setup, &context))
    }

    /// Returns a request for the tools of [`AgentHandle::turn`], and for the model that it asks, unless the request names one.
    fn asked(&self, request: &TurnRequest) -> TurnRequest {
        let mut request = request.clone();
        request.model = request.model.or_else(|| self.model.clone());
        request.caller = Caller::Program;
        request.added_tools.extend(self.factory.added_tools());
        request
    }

    /// Returns its sessions.
    pub fn sessions(&self) -> &Arc<FileStore> {
        &self.factory.store
    }

    /// Returns its memory. Nothing is opened before it is searched.
    pub fn memory(&self) -> &Arc<AgentMemory> {
        &self.factory.memory
    }

    /// Opens a conversation as `chitin run` has it: with the tools that begin other sessions, which run beside it in this process. An
    /// asynchronous runtime must be running.
    pub async fn conversation(
        &self,
        mut request: ConversationRequest,
    ) -> Result<Conversation, RuntimeError> {
        request.model = request.model.or_else(|| self.model.clone());
        Conversation::open(self.factory.clone(), request).await
    }

    /// Runs a turn to its end and returns what came of it.
    pub async fn turn(&self, message: impl Into<TurnMessage>) -> Result<TurnReport, RuntimeError> {
        let mut turn = self.stream(message).await?;
        while turn.next().await.is_some() {}
        turn.finish().await
    }

    /// Starts a turn whose events are read while it runs. An asynchronous runtime must be running.
    pub async fn stream(
        &self,
        message: impl Into<TurnMessage>,
    ) -> Result<TurnStream, RuntimeError> {
        let message = message.into();
        let setup = &self.factory.setup;
        let session = match &message.session {
            Some(key) => crate::context::session_key(key, setup)?,
            None => format!("agent:{}:main", setup.agent),
        };
        let agent = self.agent(&session).await?;
        let input = TurnInput {
            session_key: session,
            words: message.text,
            images: message.images,
            new_session: message.new_session,
            ..TurnInput::default()
        };
        let (sender, events) = mpsc::channel(WAITING_EVENTS);
        let stop = CancellationToken::new();
        let token = stop.clone();
        Ok(TurnStream {
            events,
            task: tokio::spawn(async move { agent.turn(input, sender, token).await }),
            _stop: stop.drop_guard(),
        })
    }

    async fn agent(&self, session: &str) -> Result<Arc<Agent>, RuntimeError> {
        let mut agents = self.agents.lock().await;
        if let Some(agent) = agents.get(session) {
            return Ok(Arc::clone(agent));
        }
        let template = self
            .factory
            .template(&ModelSelection {
                model: self.model.as_deref(),
                ..ModelSelection::default()
            })
            .await?;
        let user = User::owner(session, &template, &[]);
        let approver = Arc::clone(&self.approver);
        let made = self
            .factory
            .agent(&template, &user, approver, None, "embed")?;
        let agent = Arc::new(made);
        if agents.len() >= MOST_SESSIONS {
            agents.clear();
        }
        agents.insert(session.to_owned(), Arc::clone(&agent));
        Ok(agent)
    }
}

impl TurnStream {
    /// Returns the next event; none when the turn is over.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.events.recv().await
    }

    /// Waits for the end and returns what came of the turn.
    pub async fn finish(mut self) -> Result<TurnReport, RuntimeError> {
        while self.events.recv().await.is_some() {}
        match self.task.await {
            Ok(report) => report.map_err(|error| failed(&error)),
            Err(error) => Err(RuntimeError::new(
                ErrorKind::Internal,
                "The turn failed unexpectedly.",
            )
            .caused_by(error)),
        }
    }
}

impl From<&str> for TurnMessage {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for TurnMessage {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// Says why a turn failed.
fn failed(error: &TurnError) -> RuntimeError {
    let kind = match error {
        TurnError::Source(_) | TurnError::Store(_) => ErrorKind::User,
        TurnError::Model(_) | TurnError::Limit(_) => ErrorKind::Upstream,
        TurnError::NoModel => ErrorKind::Config,
        TurnError::Internal(_) | TurnError::Elsewhere => ErrorKind::Internal,
    };
    RuntimeError::new(kind, crate::display::sentence(&error.to_string()))
}
