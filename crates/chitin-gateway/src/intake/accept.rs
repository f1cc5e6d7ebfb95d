//! Whether a message is taken in, under which name, and whose it is.

use super::{IncomingMessage, IntakeRefusal, MOST_IMAGES, MOST_TEXT, Noticed, ReplyDelivery};
use crate::access::{self, LabelledSender};
use crate::events::{EventKind, JobPlacement};
use crate::gateway::{Gateway, Inner};
use crate::handover::Here;
use crate::intake::recent::Claim;
use crate::jobs::log::opening;
use crate::jobs::{Job, JobKind, Sender};
use crate::queue::busy::Marks;
use crate::queue::{QueueSettings, QueueWish};
use crate::surface::Address;
use chitin_agent::blocking;
use chitin_protocol::origin::{FileOrigin, Origin, add_origins};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many bytes of messages may be open at once; one more is let in, so that a large message has a chance.
const MOST_OPEN_BYTES: u64 = 256 << 20;

/// Who wrote what was overheard in a room.
const IN_ROOM: &str = "others in the room";

/// A message that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The job.
    pub job_id: String,
    /// The session.
    pub session_key: String,
    /// The agent.
    pub agent_id: String,
    /// What becomes of it first.
    pub place: JobPlacement,
}

/// Where something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// To us alone.
    Alone,
    /// Where others are.
    InRoom,
    /// By a program that hands it in, for somebody who is known to it.
    Program,
}

impl Gateway {
    /// Takes a message in. When this returns, the message is on the disk.
    pub async fn accept(&self, incoming: IncomingMessage) -> Result<Accepted, IntakeRefusal> {
        let noticed = Noticed {
            incoming,
            ..Noticed::default()
        };
        self.0.accept(noticed, Where::Program, None).await
    }

    /// Takes in a job of the gateway's own making: it goes before what people said and waits. One of a known name is
    /// not taken in again.
    pub async fn begin(&self, job: Job) -> Result<Accepted, IntakeRefusal> {
        let inner = &self.0;
        let here = inner
            .turnstile
            .pass()
            .await
            .ok_or(IntakeRefusal::Restarting)?;
        inner.must_be_open()?;
        let Some(claim) = inner.claim(&job.id).await else {
            return Ok(Accepted {
                job_id: job.id,
                session_key: job.session_key,
                agent_id: job.agent_id,
                place: JobPlacement::Known,
            });
        };
        let taken = inner.take_in(job, None).await?;
        claim.taken();
        drop(here);
        Ok(taken)
    }
}

impl Inner {
    /// Takes a message in; `before` is what was overheard. When this returns, the message is on the disk.
    pub(crate) async fn accept(
        self: &Arc<Self>,
        noticed: Noticed,
        place: Where,
        before: Option<&str>,
    ) -> Result<Accepted, IntakeRefusal> {
        self.admit(&noticed)?;
        let (session_key, agent_id) = self.where_to(&noticed.incoming)?;
        if place == Where::Program {
            // A person on a network writes a message once, so that it is kept until the agent can be used.
            blocking(|| self.parts.host.admit(&agent_id, &session_key))?;
        }
        let job_id = self.name(&noticed.incoming);
        // From here on it is taken in by this process or by none.
        let here = self
            .turnstile
            .pass()
            .await
            .ok_or(IntakeRefusal::Restarting)?;
        let Some(claim) = self.claim(&job_id).await else {
            return Ok(Accepted {
                job_id,
                session_key,
                agent_id,
                place: JobPlacement::Known,
            });
        };
        blocking(|| self.must_reach(&noticed.incoming, &agent_id))?;
        let settings = blocking(|| self.queue_settings(&noticed.incoming, &session_key, &agent_id));
        self.must_have_room(&session_key, &settings)?;
        let sender = self.sender(&noticed, place, &agent_id);
        let words = spoken(&noticed, &sender, place, before);
        let origins = origins(&noticed, &sender, before);
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
            origins,
            images: incoming.images,
            message_id: incoming.message_id,
            sender: Some(sender),
            deliver: match incoming.answer {
                ReplyDelivery::ToPlace => {
                    from.clone().map(|from| from.within(answer_thread.as_ref()))
                }
                ReplyDelivery::Nowhere => None,
            },
            answer_thread,
            from,
            model: incoming.model,
            retry_ms: incoming.retry_ms,
            ..Job::new(session_key, agent_id, self.parts.clock.now_ms())
        };
        let is_answerable = self.is_answerable(&job);
        let job = Job {
            is_answerable,
            ..job
        };
        self.take_in_whole(job, Some(settings), Some(claim), here)
            .await
    }

    /// Says who speaks, and what they may.
    fn sender(&self, noticed: &Noticed, place: Where, agent_id: &str) -> Sender {
        let incoming = &noticed.incoming;
        Sender {
            id: incoming.inbound.sender_id.clone(),
            name: incoming.sender_name.clone(),
            is_owner: incoming.is_owner,
            in_room: place == Where::InRoom,
            tools: access::tool_limits(&self.parts.config, noticed, agent_id).map(Box::new),
            room_prompt: access::room_prompt(&self.parts.config, noticed).map(Into::into),
        }
    }

    /// Refuses everything when the gateway is about to end, or another process does its work.
    pub(crate) fn must_be_open(&self) -> Result<(), IntakeRefusal> {
        if self.turnstile.has_left() {
            return Err(IntakeRefusal::Restarting);
        }
        if self.closing.load(Ordering::Relaxed) {
            return Err(IntakeRefusal::Closing);
        }
        Ok(())
    }

    /// Refuses what cannot be taken in at all.
    fn admit(&self, noticed: &Noticed) -> Result<(), IntakeRefusal> {
        let incoming = &noticed.incoming;
        self.must_be_open()?;
        let hangs = !incoming.images.is_empty() || !noticed.files.is_empty();
        if incoming.text.trim().is_empty() && !hangs {
            return Err(IntakeRefusal::Empty);
        }
        if incoming.text.len() > MOST_TEXT {
            return Err(IntakeRefusal::TooLarge(format!(
                "its text has {} bytes, the limit is {MOST_TEXT}",
                incoming.text.len()
            )));
        }
        if incoming.images.len() > MOST_IMAGES {
            return Err(IntakeRefusal::TooLarge(format!(
                "it has {} images, the limit is {MOST_IMAGES}",
                incoming.images.len()
            )));
        }
        self.must_have_space()?;
        if self.parts.ledger.open_bytes() > MOST_OPEN_BYTES {
            return Err(IntakeRefusal::TooMuch);
        }
        let open = self.open.load(Ordering::Relaxed);
        if open >= self.parts.most_open {
            return Err(IntakeRefusal::Full { open });
        }
        Ok(())
    }

    /// Refuses new work while what is left of the disk is needed for what was accepted.
    pub(crate) fn must_have_space(&self) -> Result<(), IntakeRefusal> {
        let found = self.parts.space.look(self.parts.clock.now_ms());
        match found.disk {
            Some(disk) if !found.has_room_for_messages() => Err(IntakeRefusal::NoSpace {
                free: disk.free,
                least: found.intake,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the name of a message's job. One that its surface names has the same name whenever it is handed in, so that
    /// its turn happens once even if a crash lies between.
    pub(crate) fn name(&self, incoming: &IncomingMessage) -> String {
        let place = Address::of(&incoming.inbound);
        match (&incoming.job_id, &incoming.message_id, place) {
            (Some(id), ..) => id.clone(),
            (None, Some(message), Some(place)) => {
                let account = place.account_id.as_deref().unwrap_or_default();
                let digest = Sha256::digest(format!("{account} {place} {message}"));
                format!("m-{}", hex::encode(&digest[..16]))
            }
            (None, ..) => self.parts.clock.unique(),
        }
    }

    pub(crate) fn queue_settings(
        &self,
        incoming: &IncomingMessage,
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

    /// Refuses a message on a channel that the agent's workspace shuts out.
    fn must_reach(&self, incoming: &IncomingMessage, agent_id: &str) -> Result<(), IntakeRefusal> {
        let claimed = incoming.inbound.channel.as_str();
        let channel = incoming.via.as_deref().unwrap_or(claimed);
        match self.parts.host.channel_refusal(agent_id, channel) {
            Some(reason) => Err(IntakeRefusal::ChannelShut {
                channel: channel.to_owned(),
                reason,
            }),
            None => Ok(()),
        }
    }

    /// Takes a job in. That happens whole even if whoever asks goes away meanwhile.
    pub(crate) async fn take_in_whole(
        self: &Arc<Self>,
        job: Job,
        settings: Option<QueueSettings>,
        claim: Option<Claim>,
        here: Here,
    ) -> Result<Accepted, IntakeRefusal> {
        let inner = Arc::clone(self);
        let taking = async move {
            let taken = inner.take_in(job, settings).await?;
            if let Some(claim) = claim {
                claim.taken();
            }
            drop(here);
            Ok(taken)
        };
        let taken = self.tasks.spawn(taking).await;
        taken.unwrap_or(Err(IntakeRefusal::Closing))
    }

    /// Puts a job into the ledger, then into its session's queue.
    pub(crate) async fn take_in(
        self: &Arc<Self>,
        job: Job,
        settings: Option<QueueSettings>,
    ) -> Result<Accepted, IntakeRefusal> {
        self.write(vec![opening(&job)]).await?;
        self.open.fetch_add(1, Ordering::Relaxed);
        self.activity.notify_one();
        let accepted = Accepted {
            job_id: job.id.clone(),
            session_key: job.session_key.clone(),
            agent_id: job.agent_id.clone(),
            place: JobPlacement::Runs,
        };
        let place = match settings {
            Some(settings) => {
                let settings = self.without_refused_interrupt(&job, settings).await;
                self.enqueue(job, settings)
            }
            None => self.put_first(job, Marks::new()),
        };
        self.tell(&accepted.session_key, &accepted.job_id, || {
            EventKind::Accepted { place }
        });
        Ok(Accepted { place, ..accepted })
    }
}

/// Says where texts of a message come from that are not the owner's.
fn origins(noticed: &Noticed, sender: &Sender, before: Option<&str>) -> Vec<Origin> {
    let mut origins = Vec::new();
    if !sender.is_owner {
        let channel = &noticed.incoming.inbound.channel;
        let who = sender.id.as_deref().or(sender.name.as_deref());
        origins.push(Origin::guest(&match who {
            Some(who) => format!("{channel}:{who}"),
            None => format!("somebody on {channel}"),
        }));
    }
    if before.is_some() {
        origins.push(Origin::guest(IN_ROOM));
    }
    let files = noticed.files.iter();
    let files = files.map(|file| Origin::file(&file.name, FileOrigin::Received));
    let files: Vec<Origin> = files.collect();
    add_origins(&mut origins, &files);
    origins
}

/// Puts together what the model hears: what was overheard, who speaks and what they say.
fn spoken(noticed: &Noticed, sender: &Sender, place: Where, before: Option<&str>) -> String {
    let inbound = &noticed.incoming.inbound;
    let room = noticed.room_name.as_deref();
    let room = room.or_else(|| inbound.peer.as_ref().map(|peer| peer.id.as_str()));
    let words = access::spoken(
        noticed,
        &LabelledSender {
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
