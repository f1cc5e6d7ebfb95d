//! What the configuration says about tools, read once.

use super::list::ToolPolicy;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::settings::{ToolPolicySettings, ToolSettings};
use serde_json::Value;

/// What the configuration says about tools. Made from `openclaw.json`, then overlaid with Chitin's own settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyConfig {
    pub(super) global: Scope,
    pub(super) agents: Vec<(String, Scope)>,
    pub(super) subagents: ToolPolicySettings,
    pub(super) max_spawn_depth: Option<f64>,
}

/// One place that holds a profile and lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scope {
    pub(super) lists: ToolPolicySettings,
    pub(super) by_provider: Vec<(String, ToolPolicySettings)>,
    /// Names of the sections that are there.
    pub(super) sections: Vec<String>,
}

impl PolicyConfig {
    /// Reads `tools`, `agents.list[].tools` and the limits of subagents from an `openclaw.json`. What has another form than
    /// expected is passed over; checking is the business of the configuration's own validation.
    pub fn from_value(config: &Value) -> Self {
        let agents = config["agents"]["list"].as_array();
        Self {
            global: Scope::from_value(&config["tools"]),
            agents: agents
                .into_iter()
                .flatten()
                .filter_map(|agent| {
                    let id = agent["id"].as_str()?;
                    let id = AgentId::normalize(id).as_str().to_owned();
                    Some((id, Scope::from_value(&agent["tools"])))
                })
                .collect(),
            subagents: lists(&config["tools"]["subagents"]["tools"]),
            max_spawn_depth: config["agents"]["defaults"]["subagents"]["maxSpawnDepth"].as_f64(),
        }
    }

    /// Overlays Chitin's own settings: what they say replaces what was read, except `deny`, where both lists hold.
    #[must_use]
    pub fn with_settings(mut self, settings: &ToolSettings) -> Self {
        overlay(&mut self.global.lists, &settings.policy);
        for (provider, own) in &settings.by_provider {
            let key = provider.trim().to_lowercase();
            let known = self
                .global
                .by_provider
                .iter_mut()
                .find(|(name, _)| *name == key);
            match known {
                Some((_, lists)) => overlay(lists, own),
                None => self.global.by_provider.push((key, own.clone())),
            }
        }
        self
    }

    /// Returns what an agent says for itself; the first entry of a name counts.
    pub(super) fn agent(&self, id: &str) -> Option<&Scope> {
        let found = self.agents.iter().find(|(name, _)| name == id);
        found.map(|(_, scope)| scope)
    }
}

impl Scope {
    fn from_value(tools: &Value) -> Self {
        let by_provider = tools["byProvider"].as_object();
        let sections = tools.as_object();
        Self {
            lists: lists(tools),
            by_provider: by_provider
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.trim().to_lowercase(), lists(value)))
                .filter(|(name, _)| !name.is_empty())
                .collect(),
            sections: sections
                .into_iter()
                .flatten()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Returns what is said for a provider; `provider/model` beats `provider` (R65).
    pub(super) fn provider(
        &self,
        provider: Option<&str>,
        model: Option<&str>,
    ) -> Option<(&str, &ToolPolicySettings)> {
        let provider = provider?.trim().to_lowercase();
        if provider.is_empty() {
            return None;
        }
        let model = model
            .map(|model| model.trim().to_lowercase())
            .filter(|model| !model.is_empty())
            .map(|model| {
                if model.contains('/') {
                    model
                } else {
                    format!("{provider}/{model}")
                }
            });
        // Of two spellings of one name the later one counts.
        let find = |key: &str| self.by_provider.iter().rev().find(|(name, _)| name == key);
        model
            .and_then(|model| find(&model))
            .or_else(|| find(&provider))
            .map(|(name, lists)| (name.as_str(), lists))
    }
}

impl ToolPolicy {
    /// Reads the lists of one place of a configuration, `allow`, `alsoAllow` and `deny`; nothing when it says nothing.
    pub fn read(value: &Value) -> Option<Self> {
        policy(&lists(value))
    }
}

/// Makes the policy of one scope; `alsoAllow` without `allow` is everything plus the entries (R63).
pub(super) fn policy(lists: &ToolPolicySettings) -> Option<ToolPolicy> {
    let also = lists.also_allow.clone().unwrap_or_default();
    let allow = match &lists.allow {
        Some(allow) if also.is_empty() => Some(allow.clone()),
        Some(allow) if !allow.is_empty() => Some([allow.clone(), also].concat()),
        Some(_) | None if !also.is_empty() => Some([vec!["*".to_owned()], also].concat()),
        Some(_) | None => None,
    };
    let deny = lists.deny.clone();
    (allow.is_some() || deny.is_some()).then_some(ToolPolicy { allow, deny })
}

fn lists(value: &Value) -> ToolPolicySettings {
    let list = |name: &str| {
        let entries = value[name].as_array()?;
        let texts = entries.iter().filter_map(Value::as_str);
        Some(texts.map(str::to_owned).collect())
    };
    ToolPolicySettings {
        profile: value["profile"].as_str().map(str::to_owned),
        allow: list("allow"),
        also_allow: list("alsoAllow"),
        deny: list("deny"),
    }
}

fn overlay(lists: &mut ToolPolicySettings, own: &ToolPolicySettings) {
    if own.profile.is_some() {
        lists.profile.clone_from(&own.profile);
    }
    if own.allow.is_some() {
        lists.allow.clone_from(&own.allow);
    }
    if own.also_allow.is_some() {
        lists.also_allow.clone_from(&own.also_allow);
    }
    if let Some(deny) = &own.deny {
        lists
            .deny
            .get_or_insert_default()
            .extend(deny.iter().cloned());
    }
}
