//! `agents_list`: the agents that this session may begin children of.

use super::SpawnLimits;
use super::limits::AllowedAgents;
use crate::gateway::WeakGateway;
use crate::sessions::visible::agent_of;
use crate::tools::{ended, outcome};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::{arguments, spec_on_file};
use chitin_tools::{CallContext, Tool, ToolConcurrency, ToolOutcome};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str =
    "Lists the agents that `sessions_spawn` may begin children of, by `agentId`.";

chitin_tools::schema_on_file!(Arguments, "agents_list.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

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

impl Tool for AgentsList {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn concurrency(&self) -> ToolConcurrency {
        ToolConcurrency::Shared
    }

    fn call<'a>(
        &'a self,
        given: Value,
        context: &'a CallContext<'a>,
    ) -> BoxFuture<'a, ToolOutcome> {
        async move {
            let Some(gateway) = self.gateway.get() else {
                return ended();
            };
            let asked: Arguments = match arguments(&self.spec, given) {
                Ok(asked) => asked,
                Err(problem) => return problem,
            };
            let Arguments {} = asked;
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
            outcome(&json!({
                "requester": own.as_str(),
                "allowAny": limits.allow_agents == AllowedAgents::Any,
                "agents": agents,
            }))
        }
        .boxed()
    }
}
