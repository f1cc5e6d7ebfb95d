//! Messages of one channel are handed in one after the other; those of others need not wait for them, nor the heartbeats.

use super::hear;
use crate::account::Account;
use crate::wire::Message;
use chitin_gateway::Gateway;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many messages are handed in at once.
const LANES: u64 = 8;
/// How many wait in each. When one is full nothing more is read, and Discord keeps what comes.
const MOST_WAITING: usize = 256;
/// How long what waits may take at the end.
const ENDING: Duration = Duration::from_secs(5);

/// The lanes of one account.
pub(super) struct Lanes {
    waiting: Vec<mpsc::Sender<Box<Message>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Lanes {
    pub(super) fn begin(
        account: &Arc<Account>,
        gateway: &Gateway,
        cancel: &CancellationToken,
    ) -> Self {
        let tasks = TaskTracker::new();
        let stop = CancellationToken::new();
        let lane = |_| {
            let (sender, mut waiting) = mpsc::channel::<Box<Message>>(MOST_WAITING);
            let (account, gateway) = (Arc::clone(account), gateway.clone());
            let (cancel, stop) = (cancel.clone(), stop.clone());
            tasks.spawn(async move {
                let work = async {
                    while let Some(message) = waiting.recv().await {
                        hear::hear(&account, &gateway, &cancel, &message).await;
                    }
                };
                tokio::select! {
                    () = work => {}
                    () = stop.cancelled() => {}
                }
            });
            sender
        };
        let waiting = (0..LANES).map(lane).collect();
        Self {
            waiting,
            tasks,
            stop,
        }
    }

    /// Puts a message behind the others of its channel.
    pub(super) async fn put(&self, message: Box<Message>, cancel: &CancellationToken) {
        // The low bits of an id count within a millisecond; the time is above them.
        let lane = (message.channel_id.number() >> 22) % LANES;
        let Some(lane) = usize::try_from(lane)
            .ok()
            .and_then(|lane| self.waiting.get(lane))
        else {
            return;
        };
        tokio::select! {
            _ = lane.send(message) => {}
            () = cancel.cancelled() => {}
        }
    }

    /// Hands in what waits, and ends.
    pub(super) async fn end(self) {
        drop(self.waiting);
        self.tasks.close();
        if tokio::time::timeout(ENDING, self.tasks.wait())
            .await
            .is_err()
        {
            self.stop.cancel();
            self.tasks.wait().await;
        }
    }
}
