//! Keeps a turn's events off the screen while somebody is asked a question.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard, watch};

/// How long a question waits for the screen to come to rest.
const PATIENCE: Duration = Duration::from_millis(250);

/// Shared by the screen and by whoever asks.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Whoever has it asks; one question at a time.
    question: Mutex<()>,
    asking: watch::Sender<bool>,
    resting: watch::Sender<bool>,
}

/// The screen is at rest as long as this lives.
#[derive(Debug)]
pub(super) struct Closed<'a> {
    inner: &'a Inner,
    _question: MutexGuard<'a, ()>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            question: Mutex::new(()),
            asking: watch::Sender::new(false),
            resting: watch::Sender::new(false),
        }))
    }

    /// Brings the screen to rest, or goes on when it does not answer: nobody may be showing anything.
    /// Cancellation-safe: the screen goes on when the future or its value is dropped.
    pub(super) async fn close(&self) -> Closed<'_> {
        let closed = Closed {
            _question: self.0.question.lock().await,
            inner: &self.0,
        };
        self.0.asking.send_replace(true);
        let mut resting = self.0.resting.subscribe();
        let _ = tokio::time::timeout(PATIENCE, resting.wait_for(|yes| *yes)).await;
        closed
    }

    /// Waits until somebody wants to ask. Cancellation-safe.
    pub(super) async fn wanted(&self) {
        let _ = self.0.asking.subscribe().wait_for(|yes| *yes).await;
    }

    /// Says that the screen is at rest, and waits until the question is answered.
    pub(super) async fn wait(&self) {
        self.0.resting.send_replace(true);
        let _ = self.0.asking.subscribe().wait_for(|yes| !*yes).await;
        self.0.resting.send_replace(false);
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.inner.asking.send_replace(false);
    }
}
