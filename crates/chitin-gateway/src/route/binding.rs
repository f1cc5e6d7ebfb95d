//! One binding: what it asks of a message, and whether a message has it (R12).

use super::inbound::{Inbound, Peer};
use crate::compat::ANY;
use chitin_protocol::agent_id::{DEFAULT_ACCOUNT, normalize_account_id};
use chitin_protocol::session_key::{ChatType, DmScope, GroupScope};
use chitin_protocol::text::trim_js;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What made the choice of an agent; the earlier one wins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum MatchedBy {
    /// A binding to this very person, group or channel.
    #[serde(rename = "binding.peer")]
    Peer,
    /// A binding to the channel above the thread.
    #[serde(rename = "binding.peer.parent")]
    PeerParent,
    /// A binding to every peer of a kind.
    #[serde(rename = "binding.peer.wildcard")]
    PeerWildcard,
    /// A binding to roles in a guild.
    #[serde(rename = "binding.guild+roles")]
    GuildRoles,
    /// A binding to a guild.
    #[serde(rename = "binding.guild")]
    Guild,
    /// A binding to a team.
    #[serde(rename = "binding.team")]
    Team,
    /// A binding to an account.
    #[serde(rename = "binding.account")]
    Account,
    /// A binding to a channel with all its accounts.
    #[serde(rename = "binding.channel")]
    Channel,
    /// No binding.
    #[serde(rename = "default")]
    Default,
}

impl MatchedBy {
    /// Returns the name as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Peer => "binding.peer",
            Self::PeerParent => "binding.peer.parent",
            Self::PeerWildcard => "binding.peer.wildcard",
            Self::GuildRoles => "binding.guild+roles",
            Self::Guild => "binding.guild",
            Self::Team => "binding.team",
            Self::Account => "binding.account",
            Self::Channel => "binding.channel",
            Self::Default => "default",
        }
    }
}

/// Why a binding does not hold: the first thing that it asks for and a message has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// The place in the configuration, such as `bindings[2].match.peer.id`.
    pub path: String,
    /// What the binding asks for.
    pub wanted: String,
    /// What the message has; none when it has nothing of the kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// Which peers a binding is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PeerRule {
    All,
    /// Something is written that names nobody; the binding never holds.
    Unusable,
    Kind(ChatType),
    Exact(Peer),
}

/// Which accounts a binding is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccountRule {
    Any,
    One(String),
}

/// One binding, read leniently: a value of the wrong type counts as absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Binding {
    /// Its place in the list.
    pub(super) index: usize,
    pub(super) agent: String,
    /// In lower case; a binding without a channel never holds.
    pub(super) channel: String,
    pub(super) account: AccountRule,
    pub(super) peer: PeerRule,
    pub(super) guild: Option<String>,
    pub(super) team: Option<String>,
    pub(super) roles: Vec<String>,
    /// What it says of sharing sessions.
    pub(super) dm_scope: Option<DmScope>,
    pub(super) group_scope: Option<GroupScope>,
    /// Whether it is for another purpose than routes.
    pub(super) foreign: Option<String>,
}

impl Binding {
    pub(super) fn read(index: usize, value: &Value) -> Self {
        let asks = &value["match"];
        let account = id_text(&asks["accountId"]).unwrap_or_default();
        let account = match account.as_str() {
            ANY => AccountRule::Any,
            "" => AccountRule::One(DEFAULT_ACCOUNT.to_owned()),
            text => AccountRule::One(normalize_account_id(text)),
        };
        let roles = asks["roles"].as_array().map(Vec::as_slice);
        let kind = value["type"].as_str().map(trim_js);
        Self {
            index,
            agent: id_text(&value["agentId"]).unwrap_or_default(),
            channel: asks["channel"]
                .as_str()
                .map(|channel| trim_js(channel).to_lowercase())
                .unwrap_or_default(),
            account,
            peer: peer_rule(&asks["peer"]),
            guild: id_text(&asks["guildId"]),
            team: id_text(&asks["teamId"]),
            roles: roles
                .unwrap_or_default()
                .iter()
                // What is no id stays as a role that nobody has: leaving it out would let more people in.
                .map(|role| id_text(role).unwrap_or_default())
                .collect(),
            dm_scope: word(&value["session"]["dmScope"]),
            group_scope: word(&value["session"]["groupScope"]),
            foreign: kind
                .filter(|kind| !kind.is_empty() && *kind != "route")
                .map(str::to_owned),
        }
    }

    /// Returns the place in the configuration of something in this binding.
    pub(super) fn path(&self, key: &str) -> String {
        let dot = if key.is_empty() { "" } else { "." };
        format!("bindings[{}]{dot}{key}", self.index)
    }

    /// Returns the strongest claim that it can make. A binding to a peer can also hold for the thread below that peer.
    pub(super) fn tier(&self) -> MatchedBy {
        match (&self.peer, &self.guild, &self.team, &self.account) {
            (PeerRule::Exact(_), ..) => MatchedBy::Peer,
            (PeerRule::Kind(_), ..) => MatchedBy::PeerWildcard,
            (PeerRule::All | PeerRule::Unusable, Some(_), ..) if !self.roles.is_empty() => {
                MatchedBy::GuildRoles
            }
            (PeerRule::All | PeerRule::Unusable, Some(_), ..) => MatchedBy::Guild,
            (PeerRule::All | PeerRule::Unusable, None, Some(_), _) => MatchedBy::Team,
            (PeerRule::All | PeerRule::Unusable, None, None, AccountRule::One(_)) => {
                MatchedBy::Account
            }
            (PeerRule::All | PeerRule::Unusable, None, None, AccountRule::Any) => {
                MatchedBy::Channel
            }
        }
    }

    /// Tells whether it can ever hold, and if not, why.
    pub(super) fn usable(&self) -> Result<(), Mismatch> {
        let never = |key: &str, wanted: &str, found: &str| {
            Err(Mismatch {
                path: self.path(key),
                wanted: wanted.to_owned(),
                found: Some(found.to_owned()),
            })
        };
        if let Some(foreign) = &self.foreign {
            return never("type", "route", foreign);
        }
        if self.channel.is_empty() {
            return never("match.channel", "a channel", "missing");
        }
        if self.peer == PeerRule::Unusable {
            return never("match.peer", "a kind and an id", "incomplete");
        }
        Ok(())
    }

    /// Tells whether a message has what the binding asks for, when `scope` stands for its peer.
    pub(super) fn holds(&self, inbound: &Inbound, scope: Option<&Peer>) -> Result<(), Mismatch> {
        self.usable()?;
        let fails = |key: &str, wanted: &str, found: Option<&str>| {
            Err(Mismatch {
                path: self.path(key),
                wanted: wanted.to_owned(),
                found: found.map(str::to_owned),
            })
        };
        if self.channel != inbound.channel {
            return fails("match.channel", &self.channel, Some(&inbound.channel));
        }
        if let AccountRule::One(account) = &self.account
            && account != inbound.account()
        {
            return fails("match.accountId", account, Some(inbound.account()));
        }
        let found_kind = scope.map(|peer| peer.kind.as_str());
        match (&self.peer, scope) {
            (PeerRule::All | PeerRule::Unusable, _) => {}
            (PeerRule::Kind(kind), Some(peer)) if same_kind(*kind, peer.kind) => {}
            (PeerRule::Exact(wanted), Some(peer)) if same_kind(wanted.kind, peer.kind) => {
                if wanted.id != peer.id {
                    return fails("match.peer.id", &wanted.id, Some(&peer.id));
                }
            }
            (PeerRule::Kind(kind) | PeerRule::Exact(Peer { kind, .. }), _) => {
                return fails("match.peer.kind", kind.as_str(), found_kind);
            }
        }
        let constraints = [
            ("match.guildId", &self.guild, &inbound.guild_id),
            ("match.teamId", &self.team, &inbound.team_id),
        ];
        for (key, wanted, found) in constraints {
            if let Some(wanted) = wanted
                && Some(wanted) != found.as_ref()
            {
                return fails(key, wanted, found.as_deref());
            }
        }
        let roles = &inbound.member_role_ids;
        let has = |role: &String| !role.is_empty() && roles.contains(role);
        if !self.roles.is_empty() && !self.roles.iter().any(has) {
            let found = (!roles.is_empty()).then(|| roles.join(", "));
            return fails("match.roles", &self.roles.join(" or "), found.as_deref());
        }
        Ok(())
    }
}

fn peer_rule(value: &Value) -> PeerRule {
    if !says_something(value) {
        return PeerRule::All;
    }
    let kind = value["kind"].as_str();
    let kind = kind.and_then(|kind| ChatType::parse(&trim_js(kind).to_lowercase()));
    match (kind, id_text(&value["id"])) {
        (Some(kind), Some(id)) if id == ANY => PeerRule::Kind(kind),
        (Some(kind), Some(id)) => PeerRule::Exact(Peer { kind, id }),
        (None, _) | (_, None) => PeerRule::Unusable,
    }
}

/// Groups and channels are one to bindings: networks disagree about the words.
pub(super) fn same_kind(one: ChatType, other: ChatType) -> bool {
    let many = |kind| matches!(kind, ChatType::Group | ChatType::Channel);
    one == other || (many(one) && many(other))
}

/// A value that says something about a peer, right or wrong.
fn says_something(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// Reads an id: text without blanks around it, or a number; none when blank.
pub(super) fn id_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => trim_js(text).to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Reads one of our own words.
pub(super) fn word<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}
