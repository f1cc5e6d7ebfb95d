//! Whether a message is taken in, under which name, and whose it is.

use super::{Accepted, Inner, Place, REMEMBERED, Refusal};
use crate::address::Address;
use crate::incoming::{Answer, Incoming, MOST_IMAGES, MOST_TEXT, Noticed};
use crate::job::{Job, JobKind, Sender};
use crate::queue::{QueueSettings, QueueWish};
use crate::trust::{self, Speaker};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::nearest::nearest;
use chitin_protocol::session_key;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// How many bytes of messages may be open at once; one more is let in, so that a large message has a chance.
const MOST_OPEN_BYTES: u64 = 256 << 20;

/// Where something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    /// To us alone, or by somebody who is known by other means than a network's.
    Alone,
    /// Where others are.
    InRoom,
}

impl Inner {
    /// Takes a message in; `before` is what was overheard. When this returns, the message is on the disk.
    pub(super) async fn accept(
        self: &Arc<Self>,
        noticed: Noticed,
        place: Where,
        before: Option<&str>,
    ) -> Result<Accepted, Refusal> {
        self.admit(&noticed)?;
        let (session_key, agent_id) = self.where_to(&noticed.incoming)?;
        let job_id = self.name(&noticed.incoming);
        if self.is_known(&job_id) {
            return Ok(Accepted {
                job_id,
                session_key,
                agent_id,
                place: Place::Known,
            });
        }
        if let Err(refusal) = self.must_reach(&noticed.incoming, &agent_id) {
            self.forget(&job_id);
            return Err(refusal);
        }
        let settings = self.queue_settings(&noticed.incoming, &session_key, &agent_id);
        let sender = self.sender(&noticed, place, &agent_id);
        let words = spoken(&noticed, &sender, place, before);
        let incoming = noticed.incoming;
        let written = if words == incoming.text {
            Vec::new()
        } else {
            vec![incoming.text.clone()]
        };
        let from = Address::of(&incoming.inbound);
        let answer_thread = self.answer_thread(&incoming);
        let job = Job {
            id: job_id,
            kind: JobKind::Message,
            words,
            written,
            images: incoming.images,
            message_id: incoming.message_id,
            sender: Some(sender),
            deliver: match incoming.answer {
                Answer::ToPlace => from.clone().map(|from| from.within(answer_thread.as_ref())),
                Answer::Nowhere => None,
            },
            answer_thread,
            from,
            model: incoming.model,
            ..Job::new(session_key, agent_id, self.parts.clock.now_ms())
        };
        let id = job.id.clone();
        let taken = self.take_in_whole(job, Some(settings)).await;
        if taken.is_err() {
            self.forget(&id);
        }
        taken
    }

    /// Says who speaks, and what they may.
    fn sender(&self, noticed: &Noticed, place: Where, agent_id: &str) -> Sender {
        let incoming = &noticed.incoming;
        Sender {
            id: incoming.inbound.sender_id.clone(),
            name: incoming.sender_name.clone(),
            is_owner: incoming.is_owner,
            in_room: place == Where::InRoom,
            tools: trust::tool_limits(&self.parts.config, noticed, agent_id).map(Box::new),
            room_prompt: trust::room_prompt(&self.parts.config, noticed).map(Into::into),
        }
    }

    /// Refuses what cannot be taken in at all.
    fn admit(&self, noticed: &Noticed) -> Result<(), Refusal> {
        let incoming = &noticed.incoming;
        if self.closing.load(Ordering::Relaxed) {
            return Err(Refusal::Closing);
        }
        let hangs = !incoming.images.is_empty() || !noticed.files.is_empty();
        if incoming.text.trim().is_empty() && !hangs {
            return Err(Refusal::Empty);
        }
        if incoming.text.len() > MOST_TEXT {
            return Err(Refusal::TooLarge(format!(
                "its text has {} bytes, {MOST_TEXT} are taken",
                incoming.text.len()
            )));
        }
        if incoming.images.len() > MOST_IMAGES {
            return Err(Refusal::TooLarge(format!(
                "it has {} pictures, {MOST_IMAGES} are taken",
                incoming.images.len()
            )));
        }
        if self.parts.ledger.open_bytes() > MOST_OPEN_BYTES {
            return Err(Refusal::TooMuch);
        }
        let open = self.open.load(Ordering::Relaxed);
        if open >= self.parts.most_open {
            return Err(Refusal::Full { open });
        }
        Ok(())
    }

    /// Returns the name of a message's job. One that its surface names has the same name whenever it is handed in, so that
    /// its turn happens once even if a crash lies between.
    pub(super) fn name(&self, incoming: &Incoming) -> String {
        let place = Address::of(&incoming.inbound);
        match (&incoming.job_id, &incoming.message_id, place) {
            (Some(id), ..) => id.clone(),
            (None, Some(message), Some(place)) => {
                let account = place.account_id.as_deref().unwrap_or_default();
                let digest = Sha256::digest(format!("{account} {place} {message}"));
                let name = digest
                    .iter()
                    .take(16)
                    .fold(String::new(), |name, byte| name + &format!("{byte:02x}"));
                format!("m-{name}")
            }
            (None, ..) => self.parts.clock.unique(),
        }
    }

    /// Tells whether a job was taken in before, and remembers the others for a while.
    pub(super) fn is_known(&self, job_id: &str) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(job_id);
        if !recent.names.insert(name) {
            return true;
        }
        recent.order.push_back(name);
        if recent.order.len() > REMEMBERED
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.names.remove(&oldest);
        }
        false
    }

    /// Forgets a name: nothing was taken in under it.
    pub(super) fn forget(&self, job_id: &str) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let name = digest(job_id);
        if recent.names.remove(&name) {
            recent.order.retain(|known| *known != name);
        }
    }

    /// Finds session and agent: what the sender picks, a session that is bound to the place, or what the bindings say.
    pub(super) fn where_to(&self, incoming: &Incoming) -> Result<(String, String), Refusal> {
        let grammar = self.parts.contract.session_keys;
        let mut inbound = incoming.inbound.clone();
        if inbound.channel.is_empty() {
            crate::compat::INTERNAL_CHANNEL.clone_into(&mut inbound.channel);
        }
        let agent = incoming.agent.as_deref().map(AgentId::normalize);
        if let Some(agent) = &agent {
            self.must_be_known(agent.as_str())?;
        }
        if let Some(key) = &incoming.session {
            let owner = agent.as_ref().map_or_else(
                || self.routing.default_agent().map(|agent| agent.to_string()),
                |agent| Ok(agent.to_string()),
            )?;
            let key = session_key::store_key(key, &owner, "", grammar);
            let parsed = session_key::SessionKey::parse(&key, grammar);
            let found = parsed.map(|parsed| parsed.agent_id).unwrap_or_default();
            self.must_be_known(&found)?;
            if let Some(agent) = agent.filter(|agent| agent.as_str() != found) {
                return Err(Refusal::BadSession {
                    key,
                    reason: format!("it is not one of `{agent}`"),
                });
            }
            return Ok((key, found));
        }
        if let Some(bound) = self.bound_session(&inbound) {
            return Ok(bound);
        }
        let guests = self.guest_routing.as_ref().filter(|_| !incoming.is_owner);
        let routing = guests.unwrap_or(&self.routing);
        let route = match &agent {
            Some(agent) => routing.for_agent(&inbound, agent),
            None => routing.resolve(&inbound)?,
        };
        self.must_be_known(route.agent_id.as_str())?;
        Ok((route.key().to_owned(), route.agent_id.to_string()))
    }

    /// Refuses a message on a channel that the agent's workspace shuts out.
    fn must_reach(&self, incoming: &Incoming, agent_id: &str) -> Result<(), Refusal> {
        let claimed = incoming.inbound.channel.as_str();
        let channel = incoming.via.as_deref().unwrap_or(claimed);
        match self.parts.host.channel_refusal(agent_id, channel) {
            Some(reason) => Err(Refusal::ChannelShut {
                channel: channel.to_owned(),
                reason,
            }),
            None => Ok(()),
        }
    }

    fn must_be_known(&self, id: &str) -> Result<(), Refusal> {
        let agents = self.parts.host.agents();
        if agents.iter().any(|agent| agent.id == id) {
            return Ok(());
        }
        let names: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        Err(Refusal::UnknownAgent {
            nearest: nearest(id, names.iter().copied()).map(str::to_owned),
            id: id.to_owned(),
        })
    }

    pub(super) fn queue_settings(
        &self,
        incoming: &Incoming,
        session_key: &str,
        agent_id: &str,
    ) -> QueueSettings {
        let rules = &self.parts.contract.runtime.dispatch.queue;
        let entry = self.parts.host.store(agent_id).ok();
        let entry = entry.and_then(|store| store.find(session_key).ok().flatten());
        let entry = entry.map(|entry| Value::Object(entry.extra));
        let session = entry.map_or_else(QueueWish::default, |entry| {
            QueueWish::of_session(&entry, rules)
        });
        let channel = Some(incoming.inbound.channel.as_str());
        QueueSettings::resolve(
            &self.parts.config,
            channel,
            &incoming.queue,
            &session,
            rules,
        )
    }
}

/// Puts together what the model hears: what was overheard, who speaks and what they say.
fn spoken(noticed: &Noticed, sender: &Sender, place: Where, before: Option<&str>) -> String {
    let inbound = &noticed.incoming.inbound;
    let room = noticed.room_name.as_deref();
    let room = room.or_else(|| inbound.peer.as_ref().map(|peer| peer.id.as_str()));
    let words = trust::spoken(
        noticed,
        &Speaker {
            channel: &inbound.channel,
            room: room.filter(|_| place == Where::InRoom),
            name: sender.name.as_deref(),
            id: sender.id.as_deref(),
            is_owner: sender.is_owner,
        },
    );
    match before {
        Some(before) => format!("{before}\n\n{words}"),
        None => words,
    }
}

/// Returns the first half of a name's SHA-256.
fn digest(name: &str) -> u128 {
    let digest = Sha256::digest(name);
    let half = digest.first_chunk::<16>();
    half.map_or(0, |half| u128::from_be_bytes(*half))
}
