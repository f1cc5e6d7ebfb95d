//! How a job ends, for those who wait for it.

use crate::error::{ApiError, sentence};
use crate::phase::Phase;
use chitin_gateway::events::EventKind;
use chitin_gateway::{DelayedJob, Gateway, JobOutcome, ListenerEvent, Subscription};
use hyper::StatusCode;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long whoever waits for a job waits for the end of an outage.
const PATIENCE: Duration = Duration::from_secs(8);

/// How a job ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// Its turn is over.
    Finished(JobOutcome),
    /// It was let go.
    Dropped(String),
}

impl End {
    /// Says whether something that happened is the end of a job.
    pub(crate) fn of(what: &EventKind) -> Option<Self> {
        match what {
            EventKind::Finished { outcome } => Some(Self::Finished(outcome.clone())),
            EventKind::Dropped { reason } => Some(Self::Dropped(reason.clone())),
            EventKind::Accepted { .. }
            | EventKind::Turn { .. }
            | EventKind::Delivered { .. }
            | EventKind::NotDelivered { .. }
            | EventKind::Merged { .. }
            | EventKind::Delayed { .. }
            | EventKind::Spawned { .. }
            | EventKind::ApprovalRequested { .. }
            | EventKind::ApprovalResolved { .. } => None,
        }
    }
}

/// Waits for the next thing that is heard of a job; a problem when the server ends before it.
pub(crate) async fn next(
    subscription: &mut Subscription,
    phase: &mut watch::Receiver<Phase>,
) -> Result<ListenerEvent, ApiError> {
    tokio::select! {
        biased;
        heard = subscription.next() => heard.ok_or_else(unfinished),
        _ = phase.wait_for(|phase| *phase == Phase::Closed) => Err(unfinished()),
    }
}

/// What came of waiting for a job.
pub(crate) enum Waited {
    /// It ended.
    End(End),
    /// It is delayed by an outage: it goes on later.
    Delayed(DelayedJob),
}

/// Waits for the end of a job, but not longer than a moment for that of an outage.
pub(crate) async fn end(
    gateway: &Gateway,
    job_id: &str,
    subscription: &mut Subscription,
    mut phase: watch::Receiver<Phase>,
) -> Result<Waited, ApiError> {
    let mut is_delayed = gateway.delay_of(job_id).is_some();
    let patience = tokio::time::sleep(PATIENCE);
    tokio::pin!(patience);
    loop {
        tokio::select! {
            // The end is the last thing that is told, so it is never among what was missed.
            heard = next(subscription, &mut phase) => {
                let ListenerEvent::Happening(happening) = heard? else {
                    continue;
                };
                if let Some(end) = End::of(&happening.what) {
                    return Ok(Waited::End(end));
                }
                if matches!(happening.what, EventKind::Delayed { .. }) && !is_delayed {
                    is_delayed = true;
                    patience.as_mut().reset(Instant::now() + PATIENCE);
                }
            }
            () = &mut patience, if is_delayed => match gateway.delay_of(job_id) {
                Some(delay) => return Ok(Waited::Delayed(delay)),
                // It is being tried right now.
                None => patience.as_mut().reset(Instant::now() + PATIENCE / 8),
            },
        }
    }
}

/// The server ends before the turn. The message is kept.
fn unfinished() -> ApiError {
    ApiError::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "unfinished",
        "The server stopped before the turn finished.",
    )
    .hint("The message is stored, and its turn continues when the server is back.")
}

/// The message was let go.
pub(crate) fn dropped(reason: &str) -> ApiError {
    let message = format!("The message was dropped. {}", sentence(reason));
    ApiError::new(StatusCode::CONFLICT, "dropped", message)
}
