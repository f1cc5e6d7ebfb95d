//! Messages in, turns of the right agent in the right session, replies out on the surface that the session is bound to.
//!
//! **In:** messages from channels ([`Gateway::notice`], [`Gateway::accept`]), clocks ([`cron`], [`heartbeat`]) and other
//! sessions ([`sessions`], [`subagents`]). **Out:** replies on channels ([`surface`]) and events for listeners ([`events`]).
//! **Never:** configuration files, a home directory or a model of its own: whoever makes a [`Gateway`] hands in its
//! [`GatewayParts`], and agents come from an [`AgentHost`].
//!
//! One folder is one feature, with its rules (plain functions that know no runtime), its part of the running gateway
//! (`impl Inner`) and its tool for models:
//!
//! | folder | feature |
//! |---|---|
//! | [`intake`] | whether a message is taken in, and as which job |
//! | [`access`] | who may talk to the agent: allowlists, pairing codes, owners, rooms |
//! | [`route`] | which agent and session gets a message |
//! | [`queue`] | what happens to messages while a turn runs, and how many turns run at once |
//! | [`jobs`] | a job, the job log, and recovery after a crash |
//! | [`turns`] | one turn: its input, its run, its end, and how it is stopped |
//! | [`delivery`] | how a reply reaches people: chunks, previews, blocks, retries; the `message` tool |
//! | [`threads`] | threads that replies open, and the history that a thread's session begins with |
//! | [`subagents`] | sessions that spawn others, and announces to their parents; `sessions_spawn`, `subagents`, `agents_list` |
//! | [`sessions`] | what a session sees of others and sends to them; `sessions_list`, `sessions_history`, `sessions_send` |
//! | [`heartbeat`] | turns that a timer begins |
//! | [`cron`] | turns that a schedule begins; the `cron` tool |
//! | [`forget`] | sessions that are deleted everywhere |
//! | [`approvals`] | questions for permission, as events with an answer |
//! | [`events`] | what listeners are told |
//! | [`handover`] | the work goes to the gateway of another process |
//! | [`surface`] | what a channel is and can do; a directory as a channel |

pub mod access;
pub mod approvals;
pub mod compat;
pub mod cron;
pub mod delivery;
pub mod events;
pub mod forget;
mod gateway;
pub mod handover;
pub mod heartbeat;
mod host;
pub mod intake;
pub mod jobs;
pub mod queue;
pub mod route;
pub mod sessions;
pub mod subagents;
pub mod surface;
pub mod threads;
pub mod tools;
pub mod turns;

pub use access::{AccessControl, TrustError};
pub use chitin_guard::SpaceWatch;
pub use events::{JobPlacement, ListenerEvent, Subscription, Topic};
pub use gateway::{Gateway, GatewayParts, WeakGateway};
pub use host::{AgentAsk, AgentHost, AgentSummary, HostError};
pub use intake::{
    Accepted, Addressed, Hanging, IncomingMessage, IntakeRefusal, Noticed, ReceiveOutcome,
    ReplyDelivery,
};
pub use jobs::{
    EarlierJob, Job, JobKind, JobOutcome, JobStatus, RefusedOutcome, Sender, StoredOutcome,
};
pub use subagents::Spawned;
pub use surface::{
    Address, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError, Surfaces,
};
pub use turns::{DelayedJob, GatewayFigures, OutagePolicy};
