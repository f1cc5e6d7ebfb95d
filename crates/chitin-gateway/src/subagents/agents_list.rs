//! `agents_list`: the agents that this session may begin children of.

use super::SpawnLimits;
use super::limits::AllowedAgents;
use crate::gateway::WeakGateway;
use crate::sessions::visible::agent_of;
use crate::tools::{alive, outcome};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str =
    "Lists the agents that `sessions_spawn` may begin children of, by `agentId`.";

chitin_tools::schema_on_file!(Arguments, "agents_list.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {}

/// Lists the agents that children may be of.
#[derive(Debug)]
pub(crate) struct AgentsList {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl AgentsList {
    pub(crate) fn new(gateway: &WeakGateway) -> Self {
        Self {
            spec: spec_on_file("agents_list", DESCRIPTION, PARAMETERS),
            gateway: gateway.clone(),
        }
    }
}

impl TypedTool for AgentsList {
    type Arguments = Arguments;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, _: Arguments, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        let gateway = alive(&self.gateway)?;
        let parts = gateway.parts();
        let own = agent_of(&gateway, context.session_key);
        let limits = SpawnLimits::read(&parts.config, &own, parts.contract);
        let agents: Vec<Value> = parts
            .host
            .agents()
            .into_iter()
            .filter(|agent| {
                let id = AgentId::normalize(&agent.id);
                limits.allow_agents.allow(&id, &own)
            })
            .map(|agent| json!({"id": agent.id, "default": agent.is_default}))
            .collect();
        Ok(outcome(&json!({
            "requester": own.as_str(),
            "allowAny": limits.allow_agents == AllowedAgents::Any,
            "agents": agents,
        })))
    }
}
