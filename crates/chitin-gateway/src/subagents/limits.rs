//! What a session may begin, by configuration and contract (R32).

use crate::compat::ANY;
use chitin_config::agents;
use chitin_contract::{Contract, SpawnLimitRules};
use chitin_protocol::agent_id::AgentId;
use serde_json::Value;
use std::time::Duration;

/// How many children of all sessions may ever run at once, whatever is configured.
const MOST_CONCURRENT: u32 = 10_000;

/// What a session of one agent may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnLimits {
    /// How deep children of children may go.
    pub max_depth: u32,
    /// How many children a session has at once.
    pub max_children: u32,
    /// How many children of all sessions run at once.
    pub max_concurrent: u32,
    /// How long a child may run; none is without end.
    pub run_timeout: Option<Duration>,
    /// After how long a finished child is put away; none is never.
    pub archive_after: Option<Duration>,
    /// How long one attempt to announce may take.
    pub announce_timeout: Duration,
    /// Which other agents children may be of.
    pub allow_agents: AllowedAgents,
    /// Whether a spawn must say of which agent the child is.
    pub require_agent_id: bool,
}

/// Which other agents children may be of; one's own is always allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedAgents {
    /// Any.
    Any,
    /// These.
    These(Vec<AgentId>),
}

impl AllowedAgents {
    fn read(value: &Value) -> Option<Self> {
        let listed = value.as_array()?;
        let names = || listed.iter().filter_map(Value::as_str).map(str::trim);
        if names().any(|name| name == ANY) {
            return Some(Self::Any);
        }
        let these = names().filter(|name| !name.is_empty());
        Some(Self::These(these.map(AgentId::normalize).collect()))
    }

    /// Tells whether a child of `agent` may be begun by a session of `own`.
    pub fn allow(&self, agent: &AgentId, own: &AgentId) -> bool {
        agent == own
            || match self {
                Self::Any => true,
                Self::These(these) => these.contains(agent),
            }
    }
}

impl SpawnLimits {
    /// Reads what holds for an agent: its own entry, then `agents.defaults.subagents`, then the contract. Numbers outside
    /// of what may be said are moved to its edge.
    pub fn read(config: &Value, agent: &AgentId, contract: &Contract) -> Self {
        let rules = &contract.runtime.subagents.limits;
        let roster = agents::roster(config, contract);
        let own = roster
            .iter()
            .find(|entry| entry.id == *agent)
            .map_or(&Value::Null, |entry| &entry.settings["subagents"]);
        let defaults = &config["agents"]["defaults"];
        let mut limits = Self::of(own, &defaults["subagents"], rules);
        // The seed documents spell the section in the singular; the releases know the plural only, which wins.
        let said = [
            &own["announceTimeoutMs"],
            &defaults["subagents"]["announceTimeoutMs"],
        ];
        let singular = whole(&defaults["subagent"]["announceTimeoutMs"]);
        if let (true, Some(said)) = (said.iter().all(|said| said.is_null()), singular) {
            limits.announce_timeout = Duration::from_millis(said.max(1));
        }
        limits
    }

    fn of(own: &Value, everybodys: &Value, rules: &SpawnLimitRules) -> Self {
        let setting = |key: &str| match &own[key] {
            Value::Null => &everybodys[key],
            value => value,
        };
        let number = |key: &str, default: u64| whole(setting(key)).unwrap_or(default);
        let bounded = |key: &str, default: u32, most: u32| {
            let number = number(key, u64::from(default)).clamp(1, u64::from(most));
            u32::try_from(number).unwrap_or(most)
        };
        let some = |amount: u64, unit_ms: u64| {
            (amount > 0).then(|| Duration::from_millis(amount.saturating_mul(unit_ms)))
        };
        Self {
            max_depth: bounded(
                "maxSpawnDepth",
                rules.default_depth,
                SpawnLimitRules::MOST_DEPTH,
            ),
            max_children: bounded(
                "maxChildrenPerAgent",
                SpawnLimitRules::DEFAULT_CHILDREN,
                SpawnLimitRules::MOST_CHILDREN,
            ),
            max_concurrent: bounded(
                "maxConcurrent",
                SpawnLimitRules::DEFAULT_CONCURRENT,
                MOST_CONCURRENT,
            ),
            run_timeout: some(
                number("runTimeoutSeconds", SpawnLimitRules::DEFAULT_RUN_SECONDS),
                1000,
            ),
            archive_after: some(
                number(
                    "archiveAfterMinutes",
                    SpawnLimitRules::DEFAULT_ARCHIVE_MINUTES,
                ),
                60_000,
            ),
            announce_timeout: Duration::from_millis(
                number("announceTimeoutMs", SpawnLimitRules::DEFAULT_ANNOUNCE_MS).max(1),
            ),
            allow_agents: AllowedAgents::read(setting("allowAgents"))
                .unwrap_or(AllowedAgents::These(Vec::new())),
            require_agent_id: setting("requireAgentId").as_bool().unwrap_or(false),
        }
    }
}

/// A finite number, cut to a whole one that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; the cast saturates"
)]
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    number.is_finite().then(|| number.max(0.0) as u64)
}
