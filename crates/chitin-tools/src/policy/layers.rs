//! The layers in their order (R64–R67).

use super::config::{self, Scope};
use super::list::{ToolPolicy, normalize_name};
use super::profile::profile_policy;
use super::verdict::RemovalReason;
use super::{PolicyInput, SenderKind};
use chitin_contract::{SenderLayer, SubagentLift, ToolRules};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::{SessionKey, is_subagent, subagent_depth};
use chitin_protocol::settings::ToolPolicySettings;

/// Which layer of the policy speaks (R64).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyLayerKind {
    /// Tools that only the owner's messages may use.
    Owner,
    /// What guests may use.
    Guest,
    /// The profile.
    Profile,
    /// The profile of the provider.
    ProviderProfile,
    /// The lists for all agents.
    Global,
    /// The lists for all agents with this provider.
    GlobalProvider,
    /// The lists of the agent.
    Agent,
    /// The lists of the agent with this provider.
    AgentProvider,
    /// The group or channel.
    Group,
    /// The sender.
    Sender,
    /// The sandbox.
    Sandbox,
    /// What subagents lack.
    Subagent,
    /// What the configuration says of subagents.
    SubagentLists,
}

/// One layer, ready to filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyLayer {
    /// Which one.
    pub kind: PolicyLayerKind,
    /// Where it is said, such as `tools` or `tools.profile (coding)`.
    pub path: String,
    /// What it says.
    pub policy: ToolPolicy,
    /// Entries of the allow list that come with the contract, not from the user.
    pub(super) built_in: Vec<String>,
}

impl PolicyLayer {
    fn new(kind: PolicyLayerKind, path: impl Into<String>, policy: ToolPolicy) -> Self {
        Self {
            kind,
            path: path.into(),
            policy,
            built_in: Vec::new(),
        }
    }

    /// Returns the path of the list that led to a reason.
    pub(super) fn path_of(&self, reason: &RemovalReason) -> String {
        match (self.kind, reason) {
            (
                PolicyLayerKind::Profile
                | PolicyLayerKind::ProviderProfile
                | PolicyLayerKind::Owner
                | PolicyLayerKind::Guest
                | PolicyLayerKind::Subagent,
                _,
            ) => self.path.clone(),
            (
                PolicyLayerKind::Global
                | PolicyLayerKind::GlobalProvider
                | PolicyLayerKind::Agent
                | PolicyLayerKind::AgentProvider
                | PolicyLayerKind::Group
                | PolicyLayerKind::Sender
                | PolicyLayerKind::Sandbox
                | PolicyLayerKind::SubagentLists,
                RemovalReason::Denied { .. },
            ) => format!("{}.deny", self.path),
            (_, RemovalReason::NotAllowed) => format!("{}.allow", self.path),
        }
    }
}

/// Makes every layer that has something to say, in the order in which they filter.
pub(super) fn layers(rules: &ToolRules, input: &PolicyInput<'_>) -> Vec<PolicyLayer> {
    let key = SessionKey::parse(input.session_key, input.grammar);
    let agent_id = input
        .agent_id
        .map(|id| AgentId::normalize(id).as_str().to_owned())
        .or_else(|| key.map(|key| AgentId::normalize(&key.agent_id).as_str().to_owned()))
        .unwrap_or_else(|| AgentId::normalize("").as_str().to_owned());
    let global = &input.config.global;
    let agent = input.config.agent(&agent_id);
    let agent_path = format!("agents.list[{agent_id}].tools");
    let provider = global.provider(input.provider, input.model);
    let agent_provider = agent.and_then(|agent| agent.provider(input.provider, input.model));

    let mut layers = Vec::new();
    if input.sender == SenderKind::Other && !rules.owner_only.is_empty() {
        layers.push(PolicyLayer::new(
            PolicyLayerKind::Owner,
            "",
            deny(rules.owner_only),
        ));
    }
    if let Some(guest) = &input.guest {
        let mut layer = PolicyLayer::new(
            PolicyLayerKind::Guest,
            "access.guests.tools",
            guest.policy(),
        );
        layer.built_in = guest.built_in();
        layers.push(layer);
    }
    layers.extend(profile_layer(rules, global, agent, &agent_path));
    layers.extend(provider_profile_layer(
        rules,
        provider,
        agent_provider,
        &agent_path,
    ));
    let mut lists = |kind, path: String, lists: Option<&ToolPolicySettings>| {
        if let Some(policy) = lists.and_then(config::policy) {
            layers.push(PolicyLayer::new(kind, path, policy));
        }
    };
    lists(PolicyLayerKind::Global, "tools".into(), Some(&global.lists));
    if let Some((name, own)) = provider {
        let path = format!("tools.byProvider.{name}");
        lists(PolicyLayerKind::GlobalProvider, path, Some(own));
    }
    lists(
        PolicyLayerKind::Agent,
        agent_path.clone(),
        agent.map(|agent| &agent.lists),
    );
    if let Some((name, own)) = agent_provider {
        let path = format!("{agent_path}.byProvider.{name}");
        lists(PolicyLayerKind::AgentProvider, path, Some(own));
    }
    let from_elsewhere = [
        (PolicyLayerKind::Group, "group tools", &input.group),
        (
            PolicyLayerKind::Sender,
            "toolsBySender",
            match rules.sender_layer {
                SenderLayer::Absent => &None,
                SenderLayer::AfterGroup => &input.by_sender,
            },
        ),
        (PolicyLayerKind::Sandbox, "sandbox tools", &input.sandbox),
    ];
    for (kind, path, policy) in from_elsewhere {
        if let Some(policy) = policy {
            layers.push(PolicyLayer::new(kind, path, policy.clone()));
        }
    }
    if is_subagent(input.session_key, input.grammar) {
        layers.extend(subagent_layers(rules, input));
    }
    layers
}

/// The profile with what is added to it (R65).
fn profile_layer(
    rules: &ToolRules,
    global: &Scope,
    agent: Option<&Scope>,
    agent_path: &str,
) -> Option<PolicyLayer> {
    let own = agent.and_then(|agent| agent.lists.profile.as_deref());
    let (path, profile) = match (own, global.lists.profile.as_deref()) {
        (Some(profile), _) => (format!("{agent_path}.profile ({profile})"), profile),
        (None, Some(profile)) => (format!("tools.profile ({profile})"), profile),
        (None, None) => return None,
    };
    let also = agent
        .and_then(|agent| agent.lists.also_allow.as_ref())
        .or(global.lists.also_allow.as_ref());
    let mut also = also.cloned().unwrap_or_default();
    let has_section = |section: &str| {
        let has = |scope: &Scope| scope.sections.iter().any(|name| name == section);
        has(global) || agent.is_some_and(has)
    };
    for implied in rules.implied {
        if has_section(implied.section) {
            also.extend(implied.tools.iter().map(|tool| (*tool).to_owned()));
        }
    }
    widened(rules, PolicyLayerKind::Profile, path, profile, also)
}

fn provider_profile_layer(
    rules: &ToolRules,
    provider: Option<(&str, &ToolPolicySettings)>,
    agent_provider: Option<(&str, &ToolPolicySettings)>,
    agent_path: &str,
) -> Option<PolicyLayer> {
    let own = agent_provider.and_then(|(name, lists)| {
        Some((
            format!("{agent_path}.byProvider.{name}"),
            lists.profile.as_deref()?,
        ))
    });
    let general = provider.and_then(|(name, lists)| {
        Some((
            format!("tools.byProvider.{name}"),
            lists.profile.as_deref()?,
        ))
    });
    let (path, profile) = own.or(general)?;
    let also = agent_provider
        .and_then(|(_, lists)| lists.also_allow.as_ref())
        .or_else(|| provider.and_then(|(_, lists)| lists.also_allow.as_ref()));
    widened(
        rules,
        PolicyLayerKind::ProviderProfile,
        format!("{path}.profile ({profile})"),
        profile,
        also.cloned().unwrap_or_default(),
    )
}

fn widened(
    rules: &ToolRules,
    kind: PolicyLayerKind,
    path: String,
    profile: &str,
    also: Vec<String>,
) -> Option<PolicyLayer> {
    let mut policy = profile_policy(rules, profile)?;
    let mut layer = PolicyLayer::new(kind, path, ToolPolicy::default());
    if let Some(allow) = &mut policy.allow {
        layer.built_in.clone_from(allow);
        allow.extend(also);
    }
    layer.policy = policy;
    Some(layer)
}

/// What subagents lack, and what the configuration says of them (R66, R67).
fn subagent_layers(rules: &ToolRules, input: &PolicyInput<'_>) -> Vec<PolicyLayer> {
    let lists = &input.config.subagents;
    let depth = input.depth.unwrap_or_else(|| {
        u32::try_from(subagent_depth(input.session_key, input.grammar)).unwrap_or(u32::MAX)
    });
    let max_depth = input
        .config
        .max_spawn_depth
        .map_or(f64::from(rules.max_spawn_depth), |depth| {
            depth.floor().max(1.0)
        });
    let mut lacking: Vec<&str> = rules.subagent_deny.to_vec();
    if depth > 0 && f64::from(depth) >= max_depth {
        lacking.extend(rules.leaf_deny);
    }
    match rules.subagent_lift {
        SubagentLift::Never => {}
        SubagentLift::ByName => {
            let named: Vec<String> = [&lists.allow, &lists.also_allow]
                .into_iter()
                .flatten()
                .flatten()
                .map(|name| normalize_name(rules, name))
                .collect();
            lacking.retain(|name| !named.iter().any(|lifted| lifted == name));
        }
    }
    let allow = match (&lists.allow, &lists.also_allow) {
        (Some(allow), Some(also)) => Some([allow.clone(), also.clone()].concat()),
        (allow, _) => allow.clone(),
    };
    vec![
        PolicyLayer::new(PolicyLayerKind::Subagent, "", deny(&lacking)),
        PolicyLayer::new(
            PolicyLayerKind::SubagentLists,
            "tools.subagents.tools",
            ToolPolicy {
                allow,
                deny: lists.deny.clone(),
            },
        ),
    ]
}

fn deny(names: &[&str]) -> ToolPolicy {
    ToolPolicy {
        allow: None,
        deny: Some(names.iter().map(|name| (*name).to_owned()).collect()),
    }
}
