//! Building keys from what a message says about its sender and place (R7–R10).

use super::{ChatType, KeyGrammar, MAIN, letter_case};
use crate::agent_id::{AgentId, normalize_account_id};
use crate::text::trim_js;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands where a channel or peer is not known.
const UNKNOWN: &str = "unknown";

/// How far direct messages share a session (`session.dmScope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DmScope {
    /// All of them are the main conversation.
    #[default]
    Main,
    /// One session per person.
    PerPeer,
    /// One session per person and channel.
    PerChannelPeer,
    /// One session per person, channel and account.
    PerAccountChannelPeer,
}

/// How far groups share a session (`session.groupScope`); only the [`KeyGrammar::Exact`] releases know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupScope {
    /// One session per group.
    #[default]
    PerGroup,
    /// All of them are the main conversation.
    Main,
}

/// A person's one name, and the ids under which channels know them; in the order of the configuration.
pub type IdentityLinks = Vec<(String, Vec<String>)>;

/// What a message says about its sender and place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerKey<'a> {
    /// The agent, in free text.
    pub agent_id: &'a str,
    /// The name of the main conversation; blank means `main`.
    pub main_key: &'a str,
    /// The channel.
    pub channel: &'a str,
    /// The account on the channel; blank means `default`.
    pub account_id: &'a str,
    /// The kind of chat.
    pub kind: ChatType,
    /// The person, group or channel.
    pub peer_id: &'a str,
    /// How far direct messages share a session.
    pub dm_scope: DmScope,
    /// How far groups share a session.
    pub group_scope: GroupScope,
    /// Who is the same person.
    pub identity_links: &'a [(String, Vec<String>)],
    /// The reading of keys in force.
    pub grammar: KeyGrammar,
}

/// Returns the key of an agent's main conversation.
pub fn main_key(agent: &str, main_key: &str) -> String {
    let name = trim_js(main_key).to_lowercase();
    let name = if name.is_empty() { MAIN } else { &name };
    format!("agent:{}:{name}", AgentId::normalize(agent))
}

/// Returns the key of the session that a message belongs to.
pub fn build_peer_key(peer: &PeerKey<'_>) -> String {
    match peer.kind {
        ChatType::Direct => direct_key(peer),
        ChatType::Group | ChatType::Channel => {
            let folded = peer.grammar == KeyGrammar::Exact && peer.group_scope == GroupScope::Main;
            if folded {
                return main_key(peer.agent_id, peer.main_key);
            }
            let agent = AgentId::normalize(peer.agent_id);
            let (channel, kind, id) = (channel(peer), peer.kind.as_str(), group_id(peer));
            format!("agent:{agent}:{channel}:{kind}:{id}")
        }
    }
}

/// Returns the key of a group's message history; direct messages have none.
pub fn history_key(peer: &PeerKey<'_>) -> Option<String> {
    match peer.kind {
        ChatType::Direct => None,
        ChatType::Group | ChatType::Channel => {
            let account = normalize_account_id(peer.account_id);
            let (channel, kind, id) = (channel(peer), peer.kind.as_str(), group_id(peer));
            Some(format!("{channel}:{account}:{kind}:{id}"))
        }
    }
}

fn direct_key(peer: &PeerKey<'_>) -> String {
    let id = match peer.dm_scope {
        DmScope::Main => None,
        DmScope::PerPeer | DmScope::PerChannelPeer | DmScope::PerAccountChannelPeer => {
            linked_name(peer).or_else(|| {
                let id = trim_js(peer.peer_id).to_lowercase();
                (!id.is_empty()).then_some(id)
            })
        }
    };
    let Some(id) = id else {
        return main_key(peer.agent_id, peer.main_key);
    };
    let agent = AgentId::normalize(peer.agent_id);
    let channel = channel(peer);
    match peer.dm_scope {
        DmScope::Main | DmScope::PerPeer => format!("agent:{agent}:direct:{id}"),
        DmScope::PerChannelPeer => format!("agent:{agent}:{channel}:direct:{id}"),
        DmScope::PerAccountChannelPeer => {
            let account = normalize_account_id(peer.account_id);
            format!("agent:{agent}:{channel}:{account}:direct:{id}")
        }
    }
}

/// Finds the one name of a person whom several channels know.
fn linked_name(peer: &PeerKey<'_>) -> Option<String> {
    let id = trim_js(peer.peer_id).to_lowercase();
    if id.is_empty() {
        return None;
    }
    let channel = trim_js(peer.channel).to_lowercase();
    let scoped = format!("{channel}:{id}");
    peer.identity_links
        .iter()
        .map(|(name, ids)| (trim_js(name).to_lowercase(), ids))
        .filter(|(name, _)| !name.is_empty())
        .find(|(_, ids)| {
            ids.iter()
                .map(|known| trim_js(known).to_lowercase())
                .any(|known| known == id || (!channel.is_empty() && known == scoped))
        })
        .map(|(name, _)| name)
}

fn channel(peer: &PeerKey<'_>) -> String {
    or_unknown(trim_js(peer.channel).to_lowercase())
}

fn group_id(peer: &PeerKey<'_>) -> String {
    let id = trim_js(peer.peer_id);
    let kept = peer.grammar == KeyGrammar::Exact
        && letter_case::is_kept(&trim_js(peer.channel).to_lowercase(), peer.kind.as_str());
    or_unknown(if kept {
        id.to_owned()
    } else {
        id.to_lowercase()
    })
}

fn or_unknown(text: String) -> String {
    if text.is_empty() {
        UNKNOWN.to_owned()
    } else {
        text
    }
}

/// How a thread shows in the key of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadSuffix {
    /// At the end, in lower case.
    #[default]
    LowerCase,
    /// At the end, as spelled: for channels whose thread ids have letter case.
    AsSpelled,
    /// Not at all: for channels where a thread is a channel of its own.
    Off,
}

/// The session of a thread, and the one above it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadKey {
    /// The key of the thread's session.
    pub session_key: String,
    /// The key of the session above it; none outside threads.
    pub parent_session_key: Option<String>,
}

/// Returns the keys of a thread's session; a blank thread id means no thread and no parent.
pub fn thread_key(
    base: &str,
    thread_id: &str,
    parent: Option<&str>,
    suffix: ThreadSuffix,
) -> ThreadKey {
    let thread_id = trim_js(thread_id);
    if thread_id.is_empty() {
        return ThreadKey {
            session_key: base.to_owned(),
            parent_session_key: None,
        };
    }
    let session_key = match suffix {
        ThreadSuffix::LowerCase => format!("{base}:thread:{}", thread_id.to_lowercase()),
        ThreadSuffix::AsSpelled => format!("{base}:thread:{thread_id}"),
        ThreadSuffix::Off => base.to_owned(),
    };
    ThreadKey {
        session_key,
        parent_session_key: parent.map(str::to_owned),
    }
}
