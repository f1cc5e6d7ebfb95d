//! What a turn gets: its agent, its message, and where the message comes from.

use crate::access;
use crate::gateway::Inner;
use crate::host::AgentAsk;
use crate::jobs::{Job, JobKind};
use crate::turns::outage::TurnFailure;
use chitin_agent::guard::{MessageOrigin, OriginKind, SenderRole};
use chitin_agent::source::{Occasion, Trigger};
use chitin_agent::turn::{Agent, Durability, OnOutage, Steering, TurnInput};
use chitin_contract::{ModelOutage, TimePrefix};
use chitin_protocol::origin::{Origin, add_origins};
use chitin_workspace::filter::{ContextMode, RunKind};
use std::sync::Arc;
use tokio::sync::Notify;

/// Who wrote what stands in a thread before its session begins.
const THREAD: &str = "others in the thread";

impl Inner {
    pub(crate) async fn agent_for(&self, job: &Job) -> Result<Arc<Agent>, TurnFailure> {
        let channel = job.from.as_ref().map(|from| from.channel.as_str());
        let offers = match self.offers.get() {
            Some(offers) => offers(channel),
            None => Arc::default(),
        };
        let standing = self.standing(job);
        let workspace = standing
            .as_ref()
            .and_then(|standing| standing.workspace.as_deref());
        self.still_allowed(job, workspace)
            .map_err(TurnFailure::own)?;
        let ask = AgentAsk {
            agent_id: &job.agent_id,
            session_key: &job.session_key,
            depth: standing.as_ref().map(|standing| standing.depth),
            sender: job.sender.as_ref(),
            channel,
            model: job.model.as_deref(),
            thinking: standing
                .as_ref()
                .and_then(|standing| standing.thinking.as_deref()),
            workspace: workspace.map(Into::into),
            working_directory: standing
                .as_ref()
                .and_then(|standing| standing.working_directory.as_ref().map(Into::into)),
            offers,
        };
        let made = self.parts.host.agent(ask).await;
        made.map_err(|error| {
            let text = match error.hint {
                Some(hint) => format!("{} ({hint})", error.message),
                None => error.message,
            };
            if error.bad_request {
                TurnFailure::own(text)
            } else {
                TurnFailure::machine(text)
            }
        })
    }

    pub(crate) async fn input(
        self: &Arc<Self>,
        job: &Arc<Job>,
        steering: Steering,
        reader: Option<&str>,
        asks: &Arc<Notify>,
    ) -> TurnInput {
        let mut origins = job.origins.clone();
        let words = match self.thread_opening(job, reader).await {
            Some(opening) => {
                add_origins(&mut origins, [&Origin::guest(THREAD)]);
                format!("{opening}\n\n{}", self.words(job))
            }
            None => self.words(job),
        };
        TurnInput {
            session_key: job.session_key.clone(),
            words,
            images: job.images.clone(),
            new_session: job.new_session,
            key: Some(match &job.about {
                Some(about) => about.turn_key(&job.id),
                None => job.id.clone(),
            }),
            provenance: job.provenance.clone(),
            occasion: Occasion {
                run: match job.kind {
                    JobKind::Heartbeat => RunKind::Heartbeat,
                    JobKind::Cron => RunKind::Cron,
                    JobKind::Message
                    | JobKind::Subagent
                    | JobKind::Announce
                    | JobKind::SessionSend => RunKind::Default,
                },
                trigger: match job.kind {
                    JobKind::Message => Trigger::User,
                    JobKind::Heartbeat => Trigger::Heartbeat,
                    JobKind::Cron => Trigger::Cron,
                    JobKind::Subagent => Trigger::Subagent,
                    JobKind::Announce => Trigger::Announce,
                    JobKind::SessionSend => Trigger::Session,
                },
                context: if job.light {
                    ContextMode::Lightweight
                } else {
                    ContextMode::Full
                },
                channel: job.from.as_ref().map(|from| from.channel.clone()),
                extra: self.extra(job),
            },
            steering: Some(steering),
            durability: if self.parts.ledger.is_volatile() {
                Durability::Transcript
            } else {
                Durability::Caller
            },
            origin: origin(job),
            origins,
            approver: self.approver_of(job, asks),
            leaves: Some(self.turnstile.token()),
            outage: match self.parts.contract.runtime.dispatch.model_outage {
                ModelOutage::Waited if self.tries_again(job) => OnOutage::AskedAgain,
                ModelOutage::Waited | ModelOutage::Told => OnOutage::Recorded,
            },
        }
    }

    /// Returns text for the prompt: a child's own, what is said of the room, and how to take the words of others where others speak.
    fn extra(&self, job: &Job) -> Option<Arc<str>> {
        let own = self.standing(job).and_then(|standing| standing.prompt);
        let sender = job.sender.as_ref();
        let room = sender.filter(|_| job.kind != JobKind::Subagent);
        let room = room.and_then(|sender| sender.room_prompt.as_deref());
        let others = sender.filter(|sender| !sender.is_owner || sender.in_room);
        let parts = [own.as_deref(), room, others.map(|_| access::GUIDANCE)];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n\n").into())
    }

    /// Returns what the model hears: with the time before it, as in a run of OpenClaw's gateway (R25).
    pub(crate) fn words(&self, job: &Job) -> String {
        match job.kind {
            JobKind::Message | JobKind::Subagent | JobKind::Announce | JobKind::SessionSend => {
                match self.parts.contract.runtime.transcript.time_prefix {
                    TimePrefix::Stored => format!("{}{}", self.stamp(), job.words),
                    // The agent puts it before what the model gets, and the transcript stays without.
                    TimePrefix::OnTheWire => job.words.clone(),
                }
            }
            JobKind::Heartbeat | JobKind::Cron => job.words.clone(),
        }
    }

    fn stamp(&self) -> String {
        let now = jiff::Timestamp::from_millisecond(self.parts.clock.now_ms()).unwrap_or_default();
        let now = now.to_zoned(self.parts.zone.clone());
        format!("[{}] ", now.strftime("%a %Y-%m-%d %H:%M %Z"))
    }
}

/// Says who a job's message comes from, for the rules of the agent's workspace.
pub(crate) fn origin(job: &Job) -> MessageOrigin {
    let sender = job.sender.as_ref();
    let channel = job.from.as_ref().map_or("", |from| from.channel.as_str());
    let (kind, written) = match job.kind {
        JobKind::Message => (OriginKind::Person, job.written()),
        JobKind::Subagent
        | JobKind::Announce
        | JobKind::SessionSend
        | JobKind::Heartbeat
        | JobKind::Cron => (OriginKind::Internal, Vec::new()),
    };
    MessageOrigin {
        kind,
        role: if sender.is_none_or(|sender| sender.is_owner) {
            SenderRole::Owner
        } else {
            SenderRole::Guest
        },
        sender: sender
            .and_then(|sender| sender.id.as_deref().or(sender.name.as_deref()))
            .map(|id| format!("{channel}:{id}")),
        written,
    }
}
