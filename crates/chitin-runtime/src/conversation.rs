//! A conversation of an owner with an agent: one session, and a gateway in this process that runs the sessions which it begins.

use crate::agent_cache::ServeHost;
use crate::context::session_key;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::{AgentFactory, ModelSelection};
use crate::notes::Notes;
use crate::setup::AgentTarget;
use crate::tools::User;
use chitin_agent::clock::SystemClock;
use chitin_agent::turn::{Agent, TurnInput};
use chitin_gateway::{
    AccessControl, Gateway, GatewayParts, OutagePolicy, Surface, Surfaces, tools,
};
use chitin_guard::SpaceWatch;
use chitin_protocol::message::ImageBlock;
use chitin_store::{JobLog, SessionStore};
use chitin_tools::{Approver, ToolOffer};
use std::path::PathBuf;
use std::sync::Arc;

/// How many runs of its own a conversation may have open.
const MOST_OPEN: usize = 1_000;

/// Which session a conversation continues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SessionChoice {
    /// The agent's main session.
    #[default]
    Main,
    /// The one that was used last, else the main one.
    LastUsed,
    /// The one of this key, as a person types it.
    Key(String),
}

/// What a caller wants of a conversation.
pub struct ConversationRequest {
    /// Which session.
    pub session: SessionChoice,
    /// Workspaces and contract that sessions get which this one begins; directory and agent are those of the conversation.
    pub target: AgentTarget,
    /// The model, as `provider/name`; left out, the configured one.
    pub model: Option<String>,
    /// How deeply to think.
    pub thinking: Option<String>,
    /// A file that requests and answers are written to.
    pub record: Option<PathBuf>,
    /// Who is asked before a tool runs that needs permission.
    pub approver: Arc<dyn Approver>,
    /// Where messages go that an agent sends on purpose.
    pub surface: Arc<dyn Surface>,
    /// What the caller is called in recorded turns, such as `run`.
    pub verb: &'static str,
}

/// A conversation. Sessions that it begins end with it.
pub struct Conversation {
    /// The agent of its session.
    pub agent: Agent,
    /// Makes its agents.
    pub factory: AgentFactory,
    /// The session's key.
    pub session: String,
    /// Runs the sessions that this one begins.
    pub gateway: Gateway,
    request: ConversationRequest,
    offers: Arc<Vec<ToolOffer>>,
}

impl Conversation {
    /// Begins or continues a conversation. A runtime must be running.
    pub async fn open(
        factory: AgentFactory,
        request: ConversationRequest,
    ) -> Result<Self, RuntimeError> {
        let setup = &factory.setup;
        let main = || format!("agent:{}:main", setup.agent);
        let session = match &request.session {
            SessionChoice::Key(key) => session_key(key, setup)?,
            SessionChoice::LastUsed => last_used(&factory)?.unwrap_or_else(main),
            SessionChoice::Main => main(),
        };
        let gateway = gateway(&factory, &request)?;
        let offers = tools::offers(&gateway)(Some(request.surface.id()));
        for note in factory.guardrail_notes() {
            factory.notes.note(&note);
        }
        let agent = agent(&factory, &request, &session, &offers).await?;
        Ok(Self {
            agent,
            factory,
            session,
            gateway,
            request,
            offers,
        })
    }

    /// Asks another model from here on.
    pub async fn select_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        let before = self.request.model.replace(name.to_owned());
        match agent(&self.factory, &self.request, &self.session, &self.offers).await {
            Ok(agent) => {
                self.agent = agent;
                Ok(())
            }
            Err(error) => {
                self.request.model = before;
                Err(error)
            }
        }
    }

    /// Makes a turn of a message.
    pub fn input(&self, words: &str, images: &[ImageBlock], new_session: bool) -> TurnInput {
        TurnInput {
            session_key: self.session.clone(),
            words: words.to_owned(),
            images: images.to_vec(),
            new_session,
            ..TurnInput::default()
        }
    }
}

/// Makes the agent that the owner talks to.
async fn agent(
    factory: &AgentFactory,
    request: &ConversationRequest,
    session: &str,
    offers: &[ToolOffer],
) -> Result<Agent, RuntimeError> {
    let template = factory
        .template(&ModelSelection {
            model: request.model.as_deref(),
            thinking: request.thinking.as_deref(),
            record: request.record.as_deref(),
        })
        .await?;
    let user = User::owner(session, &template, offers);
    let approver = Arc::clone(&request.approver);
    factory.agent(&template, &user, approver, None, request.verb)
}

/// Makes the gateway. Its jobs are kept in memory.
fn gateway(factory: &AgentFactory, request: &ConversationRequest) -> Result<Gateway, RuntimeError> {
    let configuration = &factory.setup.configuration;
    let target = AgentTarget {
        agent: Some(factory.setup.agent.to_string()),
        directory: Some(factory.setup.directory.clone()),
        ..request.target.clone()
    };
    let (host, notes): (_, &Notes) = (&factory.host, &factory.notes);
    let agents = ServeHost::new(
        host,
        &target,
        request.model.as_deref(),
        configuration,
        notes,
    )?
    .with_recordings(&factory.recordings);
    let config = Arc::new(configuration.value().clone());
    let gateway = Gateway::new(GatewayParts {
        contract: factory.setup.contract(),
        trust: Arc::new(AccessControl::volatile(
            Arc::clone(&config),
            Arc::new(SystemClock),
        )),
        config,
        host: Arc::new(agents.in_conversation(Arc::clone(&request.approver), request.verb)),
        surfaces: Surfaces::default().with(Arc::clone(&request.surface)),
        ledger: JobLog::volatile(),
        clock: Arc::new(SystemClock),
        zone: host.zone(),
        most_open: MOST_OPEN,
        // Its sender is at the terminal, and sees what fails.
        space: Arc::new(SpaceWatch::off()),
        outage: OutagePolicy::default(),
        note: notes.sink(),
    });
    gateway.offer_tools(tools::offers(&gateway));
    Ok(gateway)
}

/// Returns the session of this agent that was used last.
fn last_used(factory: &AgentFactory) -> Result<Option<String>, RuntimeError> {
    let page = factory.store.page(None, 1).map_err(|error| {
        RuntimeError::new(ErrorKind::User, "Could not read the sessions.").caused_by(error)
    })?;
    Ok(page.sessions.into_iter().next().map(|(key, _)| key))
}
