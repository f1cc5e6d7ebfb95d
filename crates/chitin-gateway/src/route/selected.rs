//! Routes to an agent that somebody picked.

use super::binding::MatchedBy;
use super::{Inbound, Route, RouteError, Routing};
use chitin_protocol::agent_id::AgentId;

impl Routing {
    /// Returns the default agent.
    ///
    /// # Errors
    ///
    /// When nobody is, and the contract does not have somebody step in.
    pub fn default_agent(&self) -> Result<AgentId, RouteError> {
        self.agent(None)
    }

    /// Says where a message goes whose sender picked the agent: bindings are not asked.
    pub fn for_agent(&self, inbound: &Inbound, agent: &AgentId) -> Route {
        let inbound = inbound.normalized();
        self.route(agent.clone(), MatchedBy::Default, None, &inbound)
            .0
    }
}
