//! Who makes agents. The gateway knows no configuration files, no home directory and no models: it asks for an agent.

use crate::approvals::KeptApproval;
use crate::forget::{ForgetError, ForgetReport, ForgetRequest};
use crate::jobs::Sender;
use chitin_agent::turn::Agent;
use chitin_protocol::settings::SubagentSettings;
use chitin_store::{JobLog, SessionStore};
use chitin_tools::ToolOffer;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes agents. Implemented by whoever knows the configuration. An implementor keeps what costs something (tools, models,
/// loaded workspaces) and makes it when it is first needed, not before.
pub trait AgentHost: Send + Sync {
    /// Returns the agents that are configured.
    fn agents(&self) -> Vec<AgentSummary>;

    /// Returns where an agent's sessions are kept.
    fn store(&self, agent_id: &str) -> Result<Arc<dyn SessionStore>, HostError>;

    /// Returns an agent for turns of a session, with the tools that the gateway offers besides its own.
    fn agent<'a>(&'a self, ask: AgentAsk<'a>) -> BoxFuture<'a, Result<Arc<Agent>, HostError>>;

    /// Returns what the user set about the sessions that an agent's sessions begin, for all agents and for this one. Paths of
    /// workspaces are absolute.
    fn subagents(&self, agent_id: &str) -> SubagentSettings {
        let _ = agent_id;
        SubagentSettings::default()
    }

    /// Says why messages of a channel do not reach an agent, if they do not: its workspace may name the channels that it
    /// answers on. A sentence that names the file.
    fn channel_refusal(&self, agent_id: &str, channel: &str) -> Option<String> {
        let _ = (agent_id, channel);
        None
    }

    /// Tells whether messages for a session of an agent can be accepted: its workspace is there, and the key is one that its turns
    /// take. Called for each message that a program hands in: it must be quick.
    fn admit(&self, agent_id: &str, session_key: &str) -> Result<(), HostError> {
        let _ = (agent_id, session_key);
        Ok(())
    }

    /// Returns the workspaces that some agent's sessions may begin others in, for the description of the tool.
    fn spawn_workspaces(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the owner allowed always, for all agents. Reads files.
    fn kept_approvals(&self) -> Vec<KeptApproval> {
        Vec::new()
    }

    /// Takes back what was allowed always under an id; tells whether there was any.
    fn revoke_approval(&self, id: &str) -> Result<bool, HostError> {
        let _ = id;
        Ok(false)
    }

    /// Forgets sessions and those that they began, in everything that is kept of them, or says what that would be. Jobs that are open stay
    /// open. Waits for the disk.
    fn forget(&self, request: &ForgetRequest, log: &JobLog) -> Result<ForgetReport, ForgetError> {
        let _ = (request, log);
        Err(HostError::new("Sessions cannot be deleted here.").into())
    }

    /// Says what the model would get in the next turn of a session.
    fn context_report(&self, agent_id: &str, session_key: &str) -> Result<Value, HostError>;
}

/// What an agent is wanted for.
#[derive(Debug, Clone)]
pub struct AgentAsk<'a> {
    /// The agent.
    pub agent_id: &'a str,
    /// The session.
    pub session_key: &'a str,
    /// How deep in a tree of subagents it is; none when it is in none.
    pub depth: Option<u32>,
    /// Who speaks; none when no person does.
    pub sender: Option<&'a Sender>,
    /// The channel, such as `discord`.
    pub channel: Option<&'a str>,
    /// The model, when one is asked for.
    pub model: Option<&'a str>,
    /// How deeply the model thinks, when that is asked for.
    pub thinking: Option<&'a str>,
    /// The workspace, when it is not the agent's own: its context, tools, sandbox and memory are meant.
    pub workspace: Option<PathBuf>,
    /// The directory to work in, when it is not the workspace itself but beneath it.
    pub working_directory: Option<PathBuf>,
    /// Tools of the gateway. The same for the same channel, so that agents can be kept.
    pub offers: Arc<Vec<ToolOffer>>,
}

/// An agent, for lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSummary {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its workspace.
    pub workspace: String,
    /// Whether it is the default one.
    pub is_default: bool,
}

/// Why there is no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostError {
    /// What happened, as a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether the request names something that cannot be; otherwise the machine failed, or the configuration.
    pub bad_request: bool,
}

impl HostError {
    /// Something went wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            bad_request: false,
        }
    }
}
