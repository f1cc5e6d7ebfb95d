//! Where a session was last spoken to, so that words that nobody asked for find their way.

use super::message_tool::target::{self, TargetNaming};
use crate::compat::last;
use crate::gateway::Inner;
use crate::jobs::{Job, JobKind};
use crate::route::Inbound;
use crate::surface::Address;
use chitin_agent::blocking;
use chitin_protocol::agent_id::AgentId;
use chitin_store::SessionEntry;
use serde_json::Value;

impl Inner {
    /// Remembers in the index where a session was spoken to. Nothing is written when nothing changed.
    pub(crate) async fn note_place(&self, job: &Job) {
        let Some(from) = job.from.as_ref().filter(|_| job.kind == JobKind::Message) else {
            return;
        };
        if self.parts.surfaces.get(&from.channel).is_none() {
            return;
        }
        let Ok(store) = self.parts.host.store(&job.agent_id) else {
            return;
        };
        let (key, from) = (job.session_key.clone(), from.clone());
        let noting = tokio::task::spawn_blocking(move || {
            let known = store.find(&key)?;
            if known.is_some_and(|entry| place_in(&entry).as_ref() == Some(&from)) {
                return Ok(());
            }
            store.annotate(&key, &mut |entry| put_place(entry, &from))
        });
        if let Ok(Err(error)) = noting.await {
            (self.parts.note)(&format!("could not record the last surface: {error}"));
        }
    }

    /// Returns where a session was last spoken to.
    pub(crate) fn last_place(&self, agent_id: &str, session_key: &str) -> Option<Address> {
        let store = self.parts.host.store(agent_id).ok()?;
        let place = place_in(&blocking(|| store.find(session_key)).ok()??)?;
        self.parts.surfaces.get(&place.channel)?;
        Some(place)
    }

    /// Finds the place that a configuration means: `last`, or a channel and who there. Without a person or room, the last
    /// place counts if it is on that channel.
    pub(crate) fn wanted_place(
        &self,
        (agent_id, session_key): (&str, &str),
        channel: &str,
        to: Option<&str>,
        account_id: Option<&str>,
    ) -> Option<Address> {
        let last = self.last_place(agent_id, session_key);
        let anywhere = channel == last::WORD;
        let place = match to {
            None => last.filter(|last| anywhere || last.channel == channel)?,
            Some(to) => {
                let naming = TargetNaming {
                    channel: if anywhere {
                        last.as_ref().map(|last| last.channel.as_str())
                    } else {
                        Some(channel)
                    },
                    surfaces: &self.parts.surfaces,
                    own: None,
                };
                target::parse(to, &naming).ok()?
            }
        };
        self.parts.surfaces.get(&place.channel)?;
        Some(Address {
            account_id: account_id.map(str::to_owned).or(place.account_id),
            ..place
        })
    }

    /// Returns the key of an agent's main conversation.
    pub(crate) fn main_session(&self, agent: &AgentId) -> String {
        let inbound = Inbound {
            channel: crate::compat::INTERNAL_CHANNEL.to_owned(),
            ..Inbound::default()
        };
        self.routing.for_agent(&inbound, agent).main_session_key
    }
}

/// Reads the last place out of what the index says of a session.
fn place_in(entry: &SessionEntry) -> Option<Address> {
    let extra = &entry.extra;
    let text = |name: &str| extra.get(name)?.as_str().map(str::to_owned);
    let (channel, to) = (entry.last_channel.clone()?, text(last::TO)?);
    let (kind, id) = to.split_once(':')?;
    let thread_id = match extra.get(last::THREAD) {
        None | Some(Value::Null) => None,
        Some(Value::String(thread)) => Some(thread.clone()),
        Some(other) => Some(other.to_string()),
    };
    Some(Address {
        channel,
        account_id: text(last::ACCOUNT),
        peer: crate::route::Peer {
            kind: chitin_protocol::session_key::ChatType::parse(kind)?,
            id: id.to_owned(),
        },
        thread_id,
    })
}

/// Writes the last place into what the index says of a session.
fn put_place(entry: &mut SessionEntry, place: &Address) {
    entry.last_channel = Some(place.channel.clone());
    let extra = &mut entry.extra;
    let to = format!("{}:{}", place.peer.kind.as_str(), place.peer.id);
    extra.insert(last::TO.to_owned(), to.into());
    let others = [
        (last::ACCOUNT, &place.account_id),
        (last::THREAD, &place.thread_id),
    ];
    for (name, value) in others {
        match value {
            Some(value) => extra.insert(name.to_owned(), value.clone().into()),
            None => extra.shift_remove(name),
        };
    }
}
