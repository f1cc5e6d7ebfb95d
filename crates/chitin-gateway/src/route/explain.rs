//! The same question, answered step by step.

use super::binding::{AccountRule, Binding, MatchedBy, Mismatch, PeerRule};
use super::error::RouteError;
use super::inbound::Inbound;
use super::routing::{Route, Routing};
use chitin_protocol::session_key::{DmScope, GroupScope, ThreadSuffix};
use schemars::JsonSchema;
use serde::Serialize;

/// How a message found its agent and its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RouteExplanation {
    /// The message, with spellings made one.
    pub inbound: Inbound,
    /// Every binding, in the order of the configuration.
    pub bindings: Vec<Considered>,
    /// Who was chosen, and by what.
    pub choice: Choice,
    /// How far direct messages share a session.
    pub dm_scope: DmScope,
    /// How far groups share a session.
    pub group_scope: GroupScope,
    /// The one name of the sender, when `session.identityLinks` gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// How a thread shows in the key on this channel.
    pub thread_suffix: ThreadSuffix,
    /// Where the message goes; none when it goes to nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// The session that the message is a turn of; none when it goes to nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Why it goes to nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Who was chosen, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// What made the choice.
    pub matched_by: MatchedBy,
    /// The binding's place in the configuration; none for the default agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// Whom the binding names, as spelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// Whether the default agent stands in for an agent that is not configured.
    pub stand_in: bool,
}

/// What became of one binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    /// The place in the configuration.
    pub path: String,
    /// The agent that it names, as spelled.
    pub agent_id: String,
    /// What it asks for, in short.
    pub asks: String,
    /// What it would be worth, or is.
    pub tier: MatchedBy,
    /// What became of it.
    pub verdict: BindingVerdict,
    /// Why it does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<Mismatch>,
}

/// What became of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BindingVerdict {
    /// It holds, and it was chosen.
    Chosen,
    /// It holds, but another one is stronger or comes first.
    Outranked,
    /// It does not hold.
    No,
}

impl Routing {
    /// Says where a message goes, and why there: every binding with its claim and its fate.
    pub fn explain(&self, inbound: &Inbound) -> RouteExplanation {
        let inbound = inbound.normalized();
        let weighed: Vec<_> = self
            .bindings
            .iter()
            .map(|binding| (binding, weigh(binding, &inbound)))
            .collect();
        let winner = weighed
            .iter()
            .filter_map(|(binding, fate)| Some((*fate.as_ref().ok()?, *binding)))
            .min_by_key(|(tier, binding)| (*tier, binding.index));
        let (matched_by, binding) = winner.map_or((MatchedBy::Default, None), |(tier, binding)| {
            (tier, Some(binding))
        });
        let agent = self.agent(binding);
        let sharing = self.sharing_by(binding);
        let named = binding
            .map(|binding| binding.agent.clone())
            .filter(|named| !named.is_empty());
        let stand_in = named.as_ref().is_some_and(|named| {
            let named = chitin_protocol::agent_id::AgentId::normalize(named);
            agent.as_ref().is_ok_and(|agent| *agent != named)
        });
        let (dm_scope, group_scope) = (sharing.dm_scope, sharing.group_scope);
        let (route, person, error) = match agent {
            Ok(agent) => {
                let (route, keys) = self.route(agent, matched_by, binding, &inbound);
                (Some(route), keys.person, None)
            }
            Err(error) => (None, None, Some(error)),
        };
        RouteExplanation {
            bindings: weighed
                .into_iter()
                .map(|(considered, fate)| tell(considered, fate, binding))
                .collect(),
            choice: Choice {
                matched_by,
                binding: binding.map(|binding| binding.path("")),
                named,
                stand_in,
            },
            dm_scope,
            group_scope,
            person,
            thread_suffix: super::thread_suffix(&inbound.channel),
            key: route.as_ref().map(|route| route.key().to_owned()),
            route,
            problem: error.as_ref().map(ToString::to_string),
            hint: error.as_ref().map(RouteError::hint),
            inbound,
        }
    }
}

/// Says what a binding is worth to a message, or why nothing.
fn weigh(binding: &Binding, inbound: &Inbound) -> Result<MatchedBy, Mismatch> {
    let own = binding.holds(inbound, inbound.peer.as_ref());
    let tier = binding.tier();
    match (own, tier, &inbound.parent_peer) {
        (Ok(()), tier, _) => Ok(tier),
        (Err(mismatch), MatchedBy::Peer, Some(parent)) => binding
            .holds(inbound, Some(parent))
            .map(|()| MatchedBy::PeerParent)
            .map_err(|_| mismatch),
        (Err(mismatch), _, _) => Err(mismatch),
    }
}

fn tell(
    binding: &Binding,
    fate: Result<MatchedBy, Mismatch>,
    chosen: Option<&Binding>,
) -> Considered {
    let verdict = match &fate {
        Err(_) => BindingVerdict::No,
        Ok(_) if chosen.is_some_and(|chosen| chosen.index == binding.index) => {
            BindingVerdict::Chosen
        }
        Ok(_) => BindingVerdict::Outranked,
    };
    Considered {
        path: binding.path(""),
        agent_id: binding.agent.clone(),
        asks: asks(binding),
        tier: *fate.as_ref().unwrap_or(&binding.tier()),
        verdict,
        mismatch: fate.err(),
    }
}

/// Says what a binding asks for, in short.
fn asks(binding: &Binding) -> String {
    let mut parts = vec![if binding.channel.is_empty() {
        "no channel".to_owned()
    } else {
        binding.channel.clone()
    }];
    match &binding.account {
        AccountRule::Any => parts.push("any account".to_owned()),
        AccountRule::One(account) => parts.push(format!("account {account}")),
    }
    match &binding.peer {
        PeerRule::All => {}
        PeerRule::Unusable => parts.push("an unusable peer".to_owned()),
        PeerRule::Kind(kind) => parts.push(format!("any {}", kind.as_str())),
        PeerRule::Exact(peer) => parts.push(format!("{} {}", peer.kind.as_str(), peer.id)),
    }
    if let Some(guild) = &binding.guild {
        parts.push(format!("guild {guild}"));
    }
    if let Some(team) = &binding.team {
        parts.push(format!("team {team}"));
    }
    if !binding.roles.is_empty() {
        parts.push(format!("role {}", binding.roles.join(" or ")));
    }
    parts.join(", ")
}
