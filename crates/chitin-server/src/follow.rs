//! How a job ends, for those who wait for it.

use crate::error::{ApiError, sentence};
use crate::phase::Phase;
use chitin_gateway::events::EventKind;
use chitin_gateway::{JobOutcome, ListenerEvent, Subscription};
use hyper::StatusCode;
use tokio::sync::watch;

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

/// Waits for the end of a job.
pub(crate) async fn end(
    subscription: &mut Subscription,
    mut phase: watch::Receiver<Phase>,
) -> Result<End, ApiError> {
    loop {
        // The end is the last thing that is told, so it is never among what was missed.
        if let ListenerEvent::Happening(happening) = next(subscription, &mut phase).await?
            && let Some(end) = End::of(&happening.what)
        {
            return Ok(end);
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
