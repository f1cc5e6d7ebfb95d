//! What listeners are told: one event, and its kind.

use crate::approvals::{PendingApproval, ResolvedApproval};
use crate::jobs::JobOutcome;
use crate::turns::DelayedJob;
use chitin_protocol::event::TurnEvent;
use schemars::JsonSchema;
use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayEvent {
    /// The how manieth since the gateway began.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The session.
    pub session_key: String,
    /// The job.
    pub job_id: String,
    /// What.
    #[serde(flatten)]
    pub what: EventKind,
}

/// What happened.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum EventKind {
    /// The job was taken in.
    Accepted {
        /// What becomes of it first.
        place: JobPlacement,
    },
    /// Something of its turn.
    Turn {
        /// What.
        event: TurnEvent,
    },
    /// Words are at their place.
    Delivered {
        /// The place.
        to: String,
        /// The surface's name for the message.
        message_id: String,
        /// What was sent, without format.
        text: String,
    },
    /// Words did not get to their place.
    NotDelivered {
        /// The place.
        to: String,
        /// Why.
        reason: String,
    },
    /// Another job does its work too.
    Merged {
        /// That one.
        into: String,
    },
    /// It is let go, because too many wait.
    Dropped {
        /// Why.
        reason: String,
    },
    /// Its turn failed by the machine's or the model's fault, and is tried again. Told once, after the first attempt.
    Delayed {
        /// Why, and when it is tried again.
        #[serde(flatten)]
        job: DelayedJob,
    },
    /// It began a run of its own.
    Spawned {
        /// The session of the run.
        child: String,
    },
    /// Its turn waits for permission.
    ApprovalRequested {
        /// The question.
        approval: Box<PendingApproval>,
    },
    /// A question of its turn was answered, or needs no answer any more.
    ApprovalResolved {
        /// What became of it.
        approval: ResolvedApproval,
    },
    /// It is over.
    Finished {
        /// How.
        outcome: JobOutcome,
    },
}

/// What becomes of a job first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobPlacement {
    /// It runs as soon as there is room.
    Runs,
    /// It waits for the turn before it.
    Waits,
    /// The turn that runs hears it.
    Steers,
    /// It was taken in before.
    Known,
}
