//! From an agent and a place to a session key (R7–R10).

use super::identity::PeopleById;
use super::inbound::{Inbound, Peer};
use crate::compat::{MATTERMOST, UNKNOWN};
use chitin_protocol::session_key::{
    self, ChatType, DmScope, GroupScope, KeyGrammar, PeerKey, ThreadKey, ThreadSuffix,
};
use chitin_text::compat::DISCORD;

/// How far sessions are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sharing {
    pub(super) dm_scope: DmScope,
    pub(super) group_scope: GroupScope,
    /// The name of the main conversation.
    pub(super) main_key: String,
    pub(super) people: PeopleById,
    pub(super) grammar: KeyGrammar,
}

/// The sessions of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys {
    /// The session of the peer, whatever thread it is.
    pub(super) base: String,
    /// The agent's main conversation.
    pub(super) main: String,
    /// The thread's session and the one above it, in a thread.
    pub(super) thread: Option<ThreadKey>,
    /// The one name of the person, when links give one.
    pub(super) person: Option<String>,
}

/// Returns how a thread shows in session keys: on Discord not at all, because a thread there is a channel of its own.
pub fn thread_suffix(channel: &str) -> ThreadSuffix {
    match channel {
        DISCORD => ThreadSuffix::Off,
        MATTERMOST => ThreadSuffix::AsSpelled,
        _ => ThreadSuffix::LowerCase,
    }
}

impl Sharing {
    /// Returns the keys for a message whose spellings were made one.
    pub(super) fn keys(&self, agent: &str, inbound: &Inbound) -> Keys {
        let (base, person) = self.peer_key(agent, inbound, inbound.peer.as_ref());
        let suffix = thread_suffix(&inbound.channel);
        let thread = thread_of(inbound, suffix).map(|thread| {
            // Without a channel above it, a thread hangs on the session that it would be without being one.
            let above = inbound.parent_peer.as_ref().map_or_else(
                || base.clone(),
                |parent| self.peer_key(agent, inbound, Some(parent)).0,
            );
            session_key::thread_key(&base, thread, Some(&above), suffix)
        });
        Keys {
            base,
            main: session_key::main_key(agent, &self.main_key),
            thread,
            person,
        }
    }

    fn peer_key(
        &self,
        agent: &str,
        inbound: &Inbound,
        peer: Option<&Peer>,
    ) -> (String, Option<String>) {
        let kind = peer.map_or(ChatType::Direct, |peer| peer.kind);
        let id = match peer.map(|peer| peer.id.as_str()) {
            None => "",
            Some("") => UNKNOWN,
            Some(id) => id,
        };
        let links = match (kind, self.dm_scope) {
            (ChatType::Group | ChatType::Channel, _) | (_, DmScope::Main) => Vec::new(),
            (
                ChatType::Direct,
                DmScope::PerPeer | DmScope::PerChannelPeer | DmScope::PerAccountChannelPeer,
            ) => self.people.links(&inbound.channel, id),
        };
        let key = session_key::build_peer_key(&PeerKey {
            agent_id: agent,
            main_key: &self.main_key,
            channel: &inbound.channel,
            account_id: inbound.account(),
            kind,
            peer_id: id,
            dm_scope: self.dm_scope,
            group_scope: self.group_scope,
            identity_links: &links,
            grammar: self.grammar,
        });
        (key, links.into_iter().next().map(|(name, _)| name))
    }
}

/// Returns the thread that a message was written in. Where threads are channels, a channel with one above it is a thread.
fn thread_of(inbound: &Inbound, suffix: ThreadSuffix) -> Option<&str> {
    let own = inbound.thread_id.as_deref();
    own.or_else(|| match suffix {
        ThreadSuffix::Off => {
            inbound.parent_peer.as_ref()?;
            let id = inbound.peer.as_ref()?.id.as_str();
            (!id.is_empty()).then_some(id)
        }
        ThreadSuffix::LowerCase | ThreadSuffix::AsSpelled => None,
    })
}
