//! `message`: words and deeds on a surface, besides the answer that goes there by itself (R59, E12).

mod act;
mod arguments;
mod cross_context;
mod files;
mod result;
mod schema;
pub mod target;

pub use cross_context::MessageReach;

use crate::gateway::{Gateway, Inner};
use crate::jobs::{Job, JobKind};
use crate::surface::{Address, Surface, SurfaceCapabilities};
use arguments::MessageToolRequest;
use chitin_contract::HeartbeatTarget;
use chitin_protocol::origin::Origin;
use chitin_protocol::session_key;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::{CallContext, GuardedDeed, ToolOutcome, TypedTool};
use std::sync::{Arc, Weak};
use target::TargetNaming;

/// What the tool is called.
pub const NAME: &str = "message";

/// Sends, edits, reacts, reads and makes threads.
pub struct MessageTool {
    gateway: Weak<Inner>,
    /// The surface of the sessions that have it.
    channel: Option<String>,
    actions: Vec<String>,
    spec: ToolSpec,
}

/// What a call knows of the turn that it is part of.
struct Scene {
    inner: Arc<Inner>,
    job: Option<Arc<Job>>,
    /// Where the session speaks.
    own: Option<Address>,
    /// Whether a place must be named.
    explicit: bool,
    /// Whether nothing is done but speak where the session does: a guest is answered.
    is_bound: bool,
}

impl MessageTool {
    /// Makes the tool for sessions of a channel. Those of none, or of one that is no surface, are shown what all surfaces
    /// know. Where there is no surface there is no tool.
    pub fn new(gateway: &Gateway, channel: Option<&str>) -> Option<Self> {
        let surfaces = &gateway.parts().surfaces;
        let own = channel.and_then(|channel| surfaces.get(channel));
        let actions = match own {
            Some(surface) => schema::actions(std::iter::once(surface.capabilities())),
            None => schema::actions(surfaces.iter().map(|surface| surface.capabilities())),
        };
        surfaces.iter().next()?;
        Some(Self {
            gateway: Arc::downgrade(&gateway.0),
            channel: own.map(|surface| surface.id().to_owned()),
            spec: schema::spec(&actions),
            actions,
        })
    }

    /// Returns what a model on a surface is told of the tool.
    pub fn definition(surface: &SurfaceCapabilities) -> ToolSpec {
        schema::spec(&schema::actions(std::iter::once(surface)))
    }
}

impl Scene {
    fn of(inner: Arc<Inner>, session_key: &str) -> Self {
        let job = inner.turn_of(session_key);
        let child = session_key::is_subagent(session_key, inner.parts.contract.session_keys);
        let beat = job
            .as_ref()
            .is_some_and(|job| job.kind == JobKind::Heartbeat);
        let rule = inner
            .parts
            .contract
            .runtime
            .dispatch
            .surfaces
            .heartbeat_target;
        let own = job.as_ref().and_then(|job| {
            let place = job.from.as_ref().or(job.deliver.as_ref())?;
            inner.parts.surfaces.get(&place.channel)?;
            Some(place.clone())
        });
        Self {
            explicit: child || (beat && rule == HeartbeatTarget::Explicit),
            inner,
            job,
            own,
            is_bound: false,
        }
    }

    /// Finds the place that a call means. One that is not the session's own is asked about where untrusted text wants it.
    async fn reached(
        &self,
        channel: Option<&str>,
        target: Option<&str>,
        ask: &MessageToolRequest,
        context: &CallContext<'_>,
    ) -> Result<(Arc<dyn Surface>, Address), String> {
        let (surface, place) = self.place(channel, target, ask)?;
        let is_looking = schema::LOOKING.contains(&ask.action.as_str());
        if !is_looking && !ask.dry_run && !self.is_own(&place) {
            let what = format!(
                "{} to `{place}`, where this session does not speak",
                ask.action
            );
            let deed = GuardedDeed {
                tool: NAME,
                entry: NAME,
                what: &what,
            };
            context.may(deed).await?;
        }
        Ok((surface, place))
    }

    /// Tells whether a place is the session's own surface, a thread there or the room around it.
    fn is_own(&self, place: &Address) -> bool {
        self.own.as_ref().is_some_and(|own| {
            own.channel == place.channel
                && own.account_id == place.account_id
                && own.peer == place.peer
        })
    }

    /// Returns the message that began the turn. It is meant only where it was written.
    fn began(&self, place: &Address) -> Option<&str> {
        let job = self.job.as_ref()?;
        let here = job.from.as_ref() == Some(place);
        job.message_id.as_deref().filter(|_| here)
    }

    /// Finds the place that a call means, and its surface.
    fn place(
        &self,
        channel: Option<&str>,
        target: Option<&str>,
        ask: &MessageToolRequest,
    ) -> Result<(Arc<dyn Surface>, Address), String> {
        let surfaces = &self.inner.parts.surfaces;
        let mut place = match (target, &self.own) {
            (Some(target), own) => {
                let channel = ask.channel.as_deref().or(channel).or_else(|| {
                    let own = own.as_ref()?;
                    Some(own.channel.as_str())
                });
                let naming = TargetNaming {
                    channel,
                    surfaces,
                    own: own.as_ref(),
                };
                target::parse(target, &naming)?
            }
            (None, _) if self.explicit => {
                return Err(
                    "This session speaks to nobody by itself. Say where: `target`, for example `channel:42`."
                        .to_owned(),
                );
            }
            (None, Some(own)) => own.clone(),
            (None, None) => {
                return Err("It is not known where this session speaks. Give `target`.".to_owned());
            }
        };
        if let Some(account) = &ask.account_id {
            place.account_id = Some(account.clone());
        }
        if let Some(thread) = &ask.thread_id {
            place.thread_id = Some(thread.clone());
        }
        if self.is_bound && self.own.as_ref() != Some(&place) {
            return Err(
                "It is not sent: this turn answers a guest, and messages go only where the guest wrote. The owner can allow more \
                 with `message` in `access.guests.tools`."
                    .to_owned(),
            );
        }
        let Some(surface) = surfaces.get(&place.channel) else {
            let names: Vec<&str> = surfaces.iter().map(|surface| surface.id()).collect();
            return Err(format!(
                "There is no surface `{}`. There are: {}.",
                place.channel,
                names.join(", ")
            ));
        };
        let agent = self.job.as_ref().map_or("", |job| job.agent_id.as_str());
        let parts = &self.inner.parts;
        let reach = MessageReach::read(&parts.config, agent, parts.contract);
        match reach.refusal(self.own.as_ref(), &place) {
            Some(refusal) => Err(refusal),
            None => Ok((Arc::clone(surface), place)),
        }
    }
}

impl TypedTool for MessageTool {
    type Arguments = MessageToolRequest;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        ask: MessageToolRequest,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        if !self.actions.contains(&ask.action) {
            return Err(format!(
                "There is no action `{}` here. There are: {}.",
                ask.action,
                self.actions.join(", ")
            ));
        }
        let Some(inner) = self.gateway.upgrade() else {
            return Err("The gateway is about to end.".to_owned());
        };
        let is_bound = context.rights.guest.is_some_and(|guest| !guest.messages);
        if is_bound && !schema::SPEAKING.contains(&ask.action.as_str()) {
            return Err(format!(
                "`{}` is not done: this turn answers a guest, who can be sent messages and reactions here, and nothing else. The \
                 owner can allow more with `message` in `access.guests.tools`.",
                ask.action
            ));
        }
        let scene = Scene {
            is_bound,
            ..Scene::of(inner, context.session_key)
        };
        let doing = act::run(&scene, self.channel.as_deref(), ask, context);
        tokio::select! {
            done = doing => done.map(|told| {
                // What others wrote somewhere is theirs, wherever it was read.
                let is_theirs = told["note"] == result::OTHERS_WORDS;
                let place = told["from"].as_str().or_else(|| told["to"].as_str());
                let origin = is_theirs.then(|| Origin::guest(place.unwrap_or("others")));
                ToolOutcome::json(told).from(origin)
            }),
            () = context.cancel.cancelled() => Err("It was stopped, and may or may not have been done.".to_owned()),
        }
    }
}

impl std::fmt::Debug for MessageTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageTool")
            .field("channel", &self.channel)
            .field("actions", &self.actions)
            .finish_non_exhaustive()
    }
}
