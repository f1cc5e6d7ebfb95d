//! Who gets a message, how sessions are spawned and speak, and where words go.
//!
//! In: messages from surfaces. Out: turns of the right agent in the right session, and their words on the surface that the
//! session is bound to. Rules that need no runtime are plain functions: [`route`], [`queue`],
//! [`live`], [`reply`], [`heartbeat`], [`announce`], [`spawn`], [`trust`].

pub mod address;
pub mod announce;
pub mod compat;
pub mod cron;
pub mod gateway;
pub mod heartbeat;
pub mod host;
pub mod incoming;
pub mod job;
pub mod live;
pub mod queue;
pub mod reply;
pub mod route;
pub mod spawn;
pub mod surface;
pub mod threads;
pub mod tools;
pub mod trust;

pub use address::Address;
pub use gateway::{
    Accepted, Gateway, GatewayParts, Heard, Place, Refusal, Spawned, Subscription, Topic,
    WeakGateway,
};
pub use host::{AgentAsk, AgentHost, AgentSummary, HostError};
pub use incoming::{Addressed, Answer, Hanging, Incoming, Notice, Noticed};
pub use job::{Job, JobKind, Outcome, RefusedOutcome, Sender, Status};
pub use surface::{Capabilities, Outgoing, Sent, Surface, SurfaceError, Surfaces};
pub use trust::{Trust, TrustError};
