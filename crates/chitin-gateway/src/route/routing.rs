//! The bindings of a configuration, read once, and the question that every message asks of them.

use super::binding::{Binding, MatchedBy, PeerRule, word};
use super::error::RouteError;
use super::identity::PeopleById;
use super::inbound::{Inbound, Peer};
use super::sessions::{Keys, Sharing};
use chitin_config::agents::{self, SelectionRequired};
use chitin_contract::{
    BindingScopes, Contract, GuestSession, MainKeyRule, RouteRules, ScopeReport, UnknownAgent,
};
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::session_key::{self, DmScope, GroupScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Who gets a message, by the bindings of one configuration.
#[derive(Debug, Clone)]
pub struct Routing {
    pub(super) bindings: Vec<Binding>,
    channels: HashMap<String, ChannelIndex>,
    roster: Vec<AgentId>,
    default: Result<AgentId, SelectionRequired>,
    pub(super) sharing: Sharing,
    rules: RouteRules,
}

/// Where the bindings of a channel stand in the list.
#[derive(Debug, Clone, Default)]
struct ChannelIndex {
    /// Those to one peer, by its id.
    peers: HashMap<String, Vec<usize>>,
    /// All others.
    others: Vec<usize>,
}

/// Where a message goes (R14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Route {
    /// The agent.
    pub agent_id: AgentId,
    /// The channel, in lower case.
    pub channel: String,
    /// The account.
    pub account_id: String,
    /// How far direct messages share a session, where the contract says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dm_scope: Option<DmScope>,
    /// How far groups share a session, where the contract says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_scope: Option<GroupScope>,
    /// The session of the peer, whatever thread it is.
    pub session_key: String,
    /// The agent's main conversation.
    pub main_session_key: String,
    /// Which session remembers where the last message came from.
    pub last_route_policy: RoutePolicy,
    /// What made the choice.
    pub matched_by: MatchedBy,
    /// The session of the thread, in a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_session_key: Option<String>,
    /// The session above the thread's, in a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session_key: Option<String>,
}

/// Which session remembers where the last message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RoutePolicy {
    /// The main conversation, which is also the one that the message belongs to.
    Main,
    /// The session that the message belongs to.
    Session,
}

impl Route {
    /// Returns the key of the session that the message is a turn of.
    pub fn key(&self) -> &str {
        self.thread_session_key
            .as_deref()
            .unwrap_or(&self.session_key)
    }
}

impl Routing {
    /// Reads what a configuration says of bindings, agents and sessions.
    pub fn read(config: &Value, contract: &Contract) -> Self {
        let rules = contract.runtime.dispatch.route;
        let listed = config["bindings"].as_array().map(Vec::as_slice);
        let bindings: Vec<Binding> = listed
            .unwrap_or_default()
            .iter()
            .enumerate()
            .map(|(index, value)| Binding::read(index, value))
            .collect();
        let mut channels: HashMap<String, ChannelIndex> = HashMap::new();
        for binding in bindings.iter().filter(|binding| binding.usable().is_ok()) {
            let channel = channels.entry(binding.channel.clone()).or_default();
            match &binding.peer {
                PeerRule::Exact(peer) => {
                    let same = channel.peers.entry(peer.id.clone()).or_default();
                    same.push(binding.index);
                }
                PeerRule::All | PeerRule::Kind(_) | PeerRule::Unusable => {
                    channel.others.push(binding.index);
                }
            }
        }
        let session = &config["session"];
        let main_key = match rules.main_key {
            MainKeyRule::Fixed => None,
            MainKeyRule::Configured => session["mainKey"].as_str(),
        };
        Self {
            bindings,
            channels,
            roster: agents::roster(config, contract)
                .into_iter()
                .map(|entry| entry.id)
                .collect(),
            default: agents::default_agent(config, contract),
            sharing: Sharing {
                dm_scope: word(&session["dmScope"]).unwrap_or_default(),
                group_scope: word(&session["groupScope"]).unwrap_or_default(),
                main_key: main_key.unwrap_or(session_key::MAIN).to_owned(),
                people: PeopleById::read(&session["identityLinks"]),
                grammar: contract.session_keys,
            },
            rules,
        }
    }

    /// Returns the same for those who are not the owner: their direct messages have sessions of their own unless the configuration says
    /// otherwise. None when it does. What a release does without a word ([`chitin_contract::GuestSession`]) would show them the owner's
    /// conversation, so it is not done; a word that nobody knows opens nothing either.
    pub fn for_guests(&self, config: &Value) -> Option<Self> {
        let said: Option<DmScope> = word(&config["session"]["dmScope"]);
        said.is_none().then(|| Self {
            sharing: Sharing {
                dm_scope: DmScope::PerChannelPeer,
                ..self.sharing.clone()
            },
            ..self.clone()
        })
    }

    /// Says which session direct messages of guests have, where the release of the contract or the owner would share the owner's; nothing
    /// where no channel is configured.
    pub fn guest_note(config: &Value, contract: &Contract) -> Option<String> {
        let channels = config["channels"].as_object()?;
        if channels.is_empty() {
            return None;
        }
        let said: Option<DmScope> = word(&config["session"]["dmScope"]);
        let (name, shares) = (contract.name, contract.runtime.dispatch.surfaces.guests);
        match (said, shares) {
            (Some(DmScope::Main), _) => Some(
                "Direct messages of all senders share the owner's conversation, because `session.dmScope` is `main`.".to_owned(),
            ),
            (None, GuestSession::Main) => Some(format!(
                "Under `{name}` all senders would share the owner's conversation. Here each guest has a session of their own, as \
                 with `session.dmScope: \"per-channel-peer\"`; only `session.dmScope: \"main\"` changes that."
            )),
            (None, GuestSession::Own)
            | (
                Some(DmScope::PerPeer | DmScope::PerChannelPeer | DmScope::PerAccountChannelPeer),
                _,
            ) => None,
        }
    }

    /// Returns the same with another default agent: one that the caller serves although no configuration names it.
    #[must_use]
    pub fn with_default(mut self, agent: AgentId) -> Self {
        if !self.roster.is_empty() && !self.roster.contains(&agent) {
            self.roster.push(agent.clone());
        }
        self.default = Ok(agent);
        self
    }

    /// Returns the key of an agent's main session.
    pub fn main_key(&self, agent: &AgentId) -> String {
        session_key::main_key(agent.as_str(), &self.sharing.main_key)
    }

    /// Says where a message goes.
    ///
    /// # Errors
    ///
    /// When the binding that holds names nobody, or no binding matches and there is no default agent, and the contract does
    /// not have somebody else step in.
    pub fn resolve(&self, inbound: &Inbound) -> Result<Route, RouteError> {
        let inbound = inbound.normalized();
        let (binding, matched_by) = self.find(&inbound);
        let agent = self.agent(binding)?;
        Ok(self.route(agent, matched_by, binding, &inbound).0)
    }

    /// Finds the binding that holds: the strongest claim, and of equals the first.
    fn find(&self, inbound: &Inbound) -> (Option<&Binding>, MatchedBy) {
        let none = (None, MatchedBy::Default);
        let Some(channel) = self.channels.get(&inbound.channel) else {
            return none;
        };
        let bound_to = |peer: Option<&Peer>| {
            let same = channel.peers.get(peer?.id.as_str())?;
            same.iter()
                .map(|index| &self.bindings[*index])
                .find(|binding| binding.holds(inbound, peer).is_ok())
        };
        if let Some(binding) = bound_to(inbound.peer.as_ref()) {
            return (Some(binding), MatchedBy::Peer);
        }
        if let Some(binding) = bound_to(inbound.parent_peer.as_ref()) {
            return (Some(binding), MatchedBy::PeerParent);
        }
        let others = channel.others.iter().map(|index| &self.bindings[*index]);
        others
            .filter(|binding| binding.holds(inbound, inbound.peer.as_ref()).is_ok())
            .min_by_key(|binding| (binding.tier(), binding.index))
            .map_or(none, |binding| (Some(binding), binding.tier()))
    }

    /// Says who the agent of a binding is; without one, the default agent.
    pub(super) fn agent(&self, binding: Option<&Binding>) -> Result<AgentId, RouteError> {
        let default = || Ok(self.default.clone()?);
        let Some(binding) = binding.filter(|binding| !binding.agent.is_empty()) else {
            return default();
        };
        let wanted = AgentId::normalize(&binding.agent);
        // Without a list of agents, everybody is one.
        if self.roster.is_empty() || self.roster.contains(&wanted) {
            return Ok(wanted);
        }
        match self.rules.unknown_agent {
            UnknownAgent::DefaultAgent => default(),
            UnknownAgent::Refused if wanted.as_str() == agent_id::MAIN => Ok(wanted),
            UnknownAgent::Refused => Err(RouteError::UnknownAgent {
                path: binding.path("agentId"),
                agent: binding.agent.clone(),
                known: self.roster.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    /// Puts the route together.
    pub(super) fn route(
        &self,
        agent_id: AgentId,
        matched_by: MatchedBy,
        binding: Option<&Binding>,
        inbound: &Inbound,
    ) -> (Route, Keys) {
        let sharing = self.sharing_by(binding);
        let keys = sharing.keys(agent_id.as_str(), inbound);
        let said = self.rules.scopes == ScopeReport::Said;
        let route = Route {
            agent_id,
            channel: inbound.channel.clone(),
            account_id: inbound.account().to_owned(),
            dm_scope: said.then_some(sharing.dm_scope),
            group_scope: said.then_some(sharing.group_scope),
            last_route_policy: if keys.base == keys.main {
                RoutePolicy::Main
            } else {
                RoutePolicy::Session
            },
            session_key: keys.base.clone(),
            main_session_key: keys.main.clone(),
            matched_by,
            thread_session_key: keys.thread.as_ref().map(|keys| keys.session_key.clone()),
            parent_session_key: keys
                .thread
                .as_ref()
                .and_then(|keys| keys.parent_session_key.clone()),
        };
        (route, keys)
    }

    /// Returns how far sessions are shared for messages of a binding.
    pub(super) fn sharing_by(&self, binding: Option<&Binding>) -> Cow<'_, Sharing> {
        let own = binding.filter(|binding| {
            self.rules.binding_scopes == BindingScopes::Read
                && (binding.dm_scope.is_some() || binding.group_scope.is_some())
        });
        let Some(binding) = own else {
            return Cow::Borrowed(&self.sharing);
        };
        Cow::Owned(Sharing {
            dm_scope: binding.dm_scope.unwrap_or(self.sharing.dm_scope),
            group_scope: binding.group_scope.unwrap_or(self.sharing.group_scope),
            ..self.sharing.clone()
        })
    }
}
