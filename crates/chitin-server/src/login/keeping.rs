//! When it is written down who is in: off the threads that serve, and not with each request.

use super::{Logins, Moment};
use chitin_agent::clock::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often it is written down who did something.
const EVERY: Duration = Duration::from_mins(5);

impl Moment {
    /// Returns now, by both clocks.
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self {
            at: Instant::now(),
            ms: clock.now_ms(),
        }
    }
}

/// Lets those in again who were in before the server began.
pub(crate) async fn read(logins: &Arc<Logins>, clock: &dyn Clock) {
    let (logins, now) = (Arc::clone(logins), Moment::now(clock));
    let _ = tokio::task::spawn_blocking(move || logins.read(now)).await;
}

/// Writes down who is in, if that changed. It is written wholly even if whoever waits for it goes away.
pub(crate) async fn keep(logins: &Arc<Logins>, clock: &dyn Clock) {
    let (logins, now) = (Arc::clone(logins), Moment::now(clock));
    let _ = tokio::task::spawn_blocking(move || logins.keep(now.ms)).await;
}

/// Writes down from time to time who did something. The disk has better things to do than to hear of each request.
pub(crate) async fn keep_for_ever(logins: Arc<Logins>, clock: Arc<dyn Clock>) {
    loop {
        tokio::time::sleep(EVERY).await;
        keep(&logins, &*clock).await;
    }
}
