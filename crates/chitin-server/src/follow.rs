//! How a job ends, for those who wait for it.

use crate::error::{ApiError, sentence};
use crate::phase::Phase;
use chitin_gateway::events::What;
use chitin_gateway::{Heard, Outcome, Subscription};
use hyper::StatusCode;
use tokio::sync::watch;

/// How a job ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// Its turn is over.
    Finished(Outcome),
    /// It was let go.
    Dropped(String),
}

impl End {
    /// Says whether something that happened is the end of a job.
    pub(crate) fn of(what: &What) -> Option<Self> {
        match what {
            What::Finished { outcome } => Some(Self::Finished(outcome.clone())),
            What::Dropped { reason } => Some(Self::Dropped(reason.clone())),
            What::Accepted { .. }
            | What::Turn { .. }
            | What::Delivered { .. }
            | What::NotDelivered { .. }
            | What::Merged { .. }
            | What::Spawned { .. } => None,
        }
    }
}

/// Waits for the next thing that is heard of a job; a problem when the server ends before it.
pub(crate) async fn next(
    subscription: &mut Subscription,
    phase: &mut watch::Receiver<Phase>,
) -> Result<Heard, ApiError> {
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
        if let Heard::Happening(happening) = next(subscription, &mut phase).await?
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
