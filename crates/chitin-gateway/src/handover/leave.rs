//! The predecessor's side: its books go to the next process, and its turns come to an end.

use super::{EndedTurn, FromPredecessor};
use crate::gateway::{Gateway, Inner};
use chitin_agent::blocking;
use chitin_store::StoreError;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{OwnedRwLockWriteGuard, mpsc};

/// What a predecessor has to tell.
pub(crate) type Left = mpsc::UnboundedSender<FromPredecessor>;

/// The work of a gateway is about to go to another process. Nothing is taken in and no job ends before that is decided; turns go on.
#[must_use = "until it is decided, nothing is taken in"]
pub struct HandOver {
    inner: Arc<Inner>,
    closed: OwnedRwLockWriteGuard<bool>,
}

impl Gateway {
    /// Begins to hand the work over. Waits until the messages that are being taken in are in the job log, but no longer than this.
    pub async fn hand_over(&self, longest: Duration) -> Option<HandOver> {
        let closed = tokio::time::timeout(longest, self.0.turnstile.close()).await;
        Some(HandOver {
            inner: Arc::clone(&self.0),
            closed: closed.ok()?,
        })
    }

    /// Tells whether another process does the work. Turns that this one had begun may not be at their end yet.
    pub fn has_left(&self) -> bool {
        self.0.turnstile.has_left()
    }

    /// Waits until no turn runs any more, or until the time is over; what is not at its end then, the successor takes up when this
    /// process is gone. Tells whether all is done.
    pub async fn turns_ended(&self, longest: Duration) -> bool {
        tokio::time::timeout(longest, self.0.tasks.wait())
            .await
            .is_ok()
    }
}

impl HandOver {
    /// Returns the sessions in which turns run. They are this gateway's until it says otherwise; what waits anywhere else is begun by the
    /// other process, in the order in which it came.
    pub fn sessions(&self) -> Vec<String> {
        let busy = self.inner.busy.lock();
        let at_work = busy.iter().filter(|(_, session)| session.is_at_work);
        at_work.map(|(key, _)| key.clone()).collect()
    }

    /// Writes all that is to be in the job log and gives it back.
    pub fn release(&self) -> Result<(), StoreError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.parts.ledger.release())
    }

    /// Nobody took the work over: opens the job log again. Everything goes on once this is dropped.
    pub fn take_back(&self) -> Result<(), StoreError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.parts.ledger.take_back())
    }

    /// Another process does the work from now on. Returns what it is to be told.
    pub fn done(self) -> mpsc::UnboundedReceiver<FromPredecessor> {
        let Self { inner, closed } = self;
        let (sender, receiver) = mpsc::unbounded_channel();
        let tell = sender.clone();
        inner.parts.ledger.gone_to(move |changes| {
            let _ = tell.send(FromPredecessor::Changes(changes));
        });
        let _ = inner.left.set(sender);
        inner.closing.store(true, Ordering::Relaxed);
        inner.ending.cancel();
        inner.tasks.close();
        inner.turnstile.leave(closed);
        receiver
    }
}

impl Inner {
    /// Says that no turn runs in a session any more, if another process waits for that.
    pub(crate) async fn free(&self, session_key: &str) {
        let Some(left) = self.left.get() else {
            return;
        };
        // What its turn still had to say goes before.
        let _ = self.write(Vec::new()).await;
        let _ = left.send(FromPredecessor::Free(session_key.to_owned()));
    }

    /// Has the other process write down that a turn is over.
    pub(crate) async fn close_elsewhere(&self, ended: EndedTurn) {
        let Some(left) = self.left.get() else {
            return;
        };
        let _ = self.write(Vec::new()).await;
        let _ = left.send(FromPredecessor::Ended(Box::new(ended)));
    }
}
