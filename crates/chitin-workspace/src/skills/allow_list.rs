//! Which skills an agent may use at all (S40).

use super::metadata::js_text;
use super::skill::Skill;
use chitin_contract::{Contract, SessionOverlay};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::BTreeMap;

/// The skills that an agent may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    names: Option<Vec<String>>,
    overlay: BTreeMap<String, bool>,
}

impl AllowList {
    /// Reads the list of an agent: its own if it has one, else the default one, else every skill.
    pub fn for_agent(config: &Value, agent: &str, contract: &Contract) -> Self {
        let wanted = AgentId::normalize(agent);
        let is_wanted = |id: &str| AgentId::normalize(id).as_str() == wanted.as_str();
        let listed = config
            .pointer("/agents/list")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .find(|entry| {
                entry
                    .get("id")
                    .and_then(Value::as_str)
                    .is_some_and(is_wanted)
            });
        let mapped = config
            .pointer("/agents/entries")
            .and_then(Value::as_object)
            .filter(|_| contract.agents.entries_map)
            .and_then(|entries| entries.iter().find(|(id, _)| is_wanted(id)))
            .map(|(_, entry)| entry);
        let names = listed
            .or(mapped)
            .and_then(|entry| entry.get("skills"))
            .or_else(|| config.pointer("/agents/defaults/skills"))
            .and_then(Value::as_array)
            .map(|names| {
                names
                    .iter()
                    .map(|name| trim_js(&js_text(name)).to_owned())
                    .filter(|name| !name.is_empty())
                    .collect()
            });
        Self {
            names,
            overlay: BTreeMap::new(),
        }
    }

    /// Lays a session's wishes on top, keyed by skill key: true adds, false removes. Contracts without sessions of this
    /// kind ignore them.
    #[must_use]
    pub fn with_session(mut self, overlay: BTreeMap<String, bool>, contract: &Contract) -> Self {
        match contract.skills.session_overlay {
            SessionOverlay::Unknown => {}
            SessionOverlay::ByKey => self.overlay = overlay,
        }
        self
    }

    /// Returns the listed names; `None` when every skill is allowed.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Tells whether a skill is allowed.
    pub fn allows(&self, skill: &Skill) -> bool {
        self.allows_name(&skill.name, skill.key())
    }

    /// Tells whether a skill of that name and key is allowed.
    pub fn allows_name(&self, name: &str, key: &str) -> bool {
        if let Some(wish) = self.overlay.get(key) {
            return *wish;
        }
        self.names
            .as_ref()
            .is_none_or(|names| names.iter().any(|listed| listed == name))
    }
}
