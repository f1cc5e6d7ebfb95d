//! Which sessions a session sees: its own tree, unless the user allows more.

use crate::gateway::Gateway;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::{self, SessionKey};
use chitin_store::SessionEntry;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// How far a session sees (`tools.sessions.visibility`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Itself.
    Itself,
    /// Itself and what it began; the main session of an agent sees all of its agent.
    Tree,
    /// All sessions of its agent.
    Agent,
    /// All sessions of all agents that may speak to each other.
    All,
}

/// A session that is seen.
#[derive(Debug, Clone)]
pub(crate) struct VisibleSession {
    pub(crate) key: String,
    pub(crate) agent_id: String,
    pub(crate) entry: SessionEntry,
}

/// What one session sees.
pub(crate) struct Sight<'a> {
    gateway: &'a Gateway,
    caller: &'a str,
    agent: AgentId,
    reach: Reach,
}

impl<'a> Sight<'a> {
    /// Looks with the eyes of a session.
    pub(crate) fn of(gateway: &'a Gateway, caller: &'a str) -> Self {
        let parts = gateway.parts();
        let reach = match parts.config["tools"]["sessions"]["visibility"].as_str() {
            Some("self") => Reach::Itself,
            Some("agent") => Reach::Agent,
            Some("all") => Reach::All,
            _ => Reach::Tree,
        };
        let agent = agent_of(gateway, caller);
        let is_main = caller == gateway.routing().main_key(&agent);
        let reach = match reach {
            Reach::Tree if is_main => Reach::Agent,
            other => other,
        };
        Self {
            gateway,
            caller,
            agent,
            reach,
        }
    }

    /// Returns all sessions that are seen, the most recently used first.
    pub(crate) fn all(&self) -> Vec<VisibleSession> {
        let mut found: Vec<VisibleSession> = Vec::new();
        for agent in self.agents() {
            let Ok(store) = self.gateway.parts().host.store(&agent) else {
                continue;
            };
            let sessions = store.list().unwrap_or_default();
            found.extend(sessions.into_iter().map(|(key, entry)| VisibleSession {
                key,
                agent_id: agent.clone(),
                entry,
            }));
        }
        let tree = self.tree(&found);
        found.retain(|seen| self.sees(seen, &tree));
        found.sort_by_key(|seen| std::cmp::Reverse(seen.entry.updated_at));
        found
    }

    /// Finds a session by its key, or says why it is not seen. One that is not there and one that is not seen look alike.
    pub(crate) fn find(&self, wanted: &str) -> Result<VisibleSession, String> {
        let grammar = self.gateway.parts().contract.session_keys;
        let wanted = wanted.trim();
        let key = session_key::store_key(wanted, self.agent.as_str(), "", grammar);
        let seen = self.all();
        let found = seen.into_iter().find(|seen| seen.key == key);
        found.ok_or_else(|| {
            format!("There is no session `{wanted}` that this one sees. `sessions_list` lists those that it does.")
        })
    }

    /// Finds a session by what it is called.
    pub(crate) fn find_label(
        &self,
        label: &str,
        agent: Option<&str>,
    ) -> Result<VisibleSession, String> {
        let agent = agent.map(AgentId::normalize);
        let fits = |seen: &VisibleSession| {
            seen.entry.label.as_deref() == Some(label.trim())
                && agent
                    .as_ref()
                    .is_none_or(|agent| agent.as_str() == seen.agent_id)
        };
        let mut found = self.all().into_iter().filter(fits);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some(_), Some(_)) => Err(format!(
                "Several sessions are called `{label}`. Say which one, in `sessionKey`."
            )),
            (None, _) => Err(format!(
                "No session that this one sees is called `{label}`."
            )),
        }
    }

    fn agents(&self) -> Vec<String> {
        let agents = self.gateway.parts().host.agents().into_iter();
        let ids = agents.map(|agent| agent.id);
        match self.reach {
            Reach::Itself | Reach::Agent => vec![self.agent.to_string()],
            // Children may be of other agents.
            Reach::Tree => ids.collect(),
            Reach::All => {
                let config = &self.gateway.parts().config;
                ids.filter(|id| *id == self.agent.as_str() || may_speak(config, &self.agent, id))
                    .collect()
            }
        }
    }

    fn sees(&self, seen: &VisibleSession, tree: &HashSet<String>) -> bool {
        seen.key == self.caller
            || match self.reach {
                Reach::Itself => false,
                Reach::Tree => tree.contains(&seen.key),
                Reach::Agent | Reach::All => true,
            }
    }

    /// Returns the sessions below the one that looks.
    fn tree(&self, all: &[VisibleSession]) -> HashSet<String> {
        let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
        for seen in all {
            if let Some(parent) = seen.entry.spawned_by.as_deref() {
                children.entry(parent).or_default().push(&seen.key);
            }
        }
        let mut found: HashSet<String> = HashSet::new();
        let mut next = vec![self.caller];
        while let Some(key) = next.pop() {
            for child in children.get(key).into_iter().flatten() {
                if found.insert((*child).to_owned()) {
                    next.push(child);
                }
            }
        }
        found
    }
}

/// Returns the agent that a session is of.
pub(crate) fn agent_of(gateway: &Gateway, session_key: &str) -> AgentId {
    let grammar = gateway.parts().contract.session_keys;
    match SessionKey::parse(session_key, grammar) {
        Some(parsed) => parsed.agent(),
        None => gateway
            .routing()
            .default_agent()
            .unwrap_or_else(|_| AgentId::normalize("")),
    }
}

/// Tells whether two agents may speak to each other (`tools.agentToAgent`).
fn may_speak(config: &Value, one: &AgentId, other: &str) -> bool {
    let said = &config["tools"]["agentToAgent"];
    let listed = |id: &str| {
        let names = said["allow"].as_array().into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .any(|name| name == crate::compat::ANY || AgentId::normalize(name).as_str() == id)
    };
    said["enabled"].as_bool() == Some(true) && listed(one.as_str()) && listed(other)
}
