//! The agent and the session of a message: what the sender picks, a bound surface, or the bindings of the configuration.

use crate::gateway::Inner;
use crate::intake::{IncomingMessage, IntakeRefusal};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::nearest::nearest;
use chitin_protocol::session_key;

impl Inner {
    /// Finds session and agent: what the sender picks, a session that is bound to the place, or what the bindings say.
    pub(crate) fn where_to(
        &self,
        incoming: &IncomingMessage,
    ) -> Result<(String, String), IntakeRefusal> {
        let grammar = self.parts.contract.session_keys;
        let mut inbound = incoming.inbound.clone();
        if inbound.channel.is_empty() {
            crate::compat::INTERNAL_CHANNEL.clone_into(&mut inbound.channel);
        }
        let agent = incoming.agent.as_deref().map(AgentId::normalize);
        if let Some(agent) = &agent {
            self.must_be_known(agent.as_str())?;
        }
        if let Some(key) = &incoming.session {
            let owner = agent.as_ref().map_or_else(
                || self.routing.default_agent().map(|agent| agent.to_string()),
                |agent| Ok(agent.to_string()),
            )?;
            let key = session_key::store_key(key, &owner, "", grammar);
            let parsed = session_key::SessionKey::parse(&key, grammar);
            let found = parsed.map(|parsed| parsed.agent_id).unwrap_or_default();
            self.must_be_known(&found)?;
            if let Some(agent) = agent.filter(|agent| agent.as_str() != found) {
                return Err(IntakeRefusal::BadSession {
                    key,
                    reason: format!("it is not one of `{agent}`"),
                });
            }
            return Ok((key, found));
        }
        if let Some(bound) = self.bound_session(&inbound) {
            return Ok(bound);
        }
        let guests = self.guest_routing.as_ref().filter(|_| !incoming.is_owner);
        let routing = guests.unwrap_or(&self.routing);
        let route = match &agent {
            Some(agent) => routing.for_agent(&inbound, agent),
            None => routing.resolve(&inbound)?,
        };
        self.must_be_known(route.agent_id.as_str())?;
        Ok((route.key().to_owned(), route.agent_id.to_string()))
    }

    fn must_be_known(&self, id: &str) -> Result<(), IntakeRefusal> {
        let agents = self.parts.host.agents();
        if agents.iter().any(|agent| agent.id == id) {
            return Ok(());
        }
        let names: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        Err(IntakeRefusal::UnknownAgent {
            nearest: nearest(id, names.iter().copied()).map(str::to_owned),
            id: id.to_owned(),
        })
    }
}
