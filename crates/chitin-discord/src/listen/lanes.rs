//! Messages of one channel are handed in one after the other; those of others need not wait for them, nor the heartbeats.

use super::progress::{Number, Progress};
use super::receive;
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

/// A message, and the number of its event.
type Waiting = (Number, Box<Message>);

/// The lanes of one account.
pub(super) struct Lanes {
    waiting: Vec<mpsc::Sender<Waiting>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Lanes {
    pub(super) fn begin(
        account: &Arc<Account>,
        gateway: &Gateway,
        progress: &Arc<Progress>,
        cancel: &CancellationToken,
    ) -> Self {
        let tasks = TaskTracker::new();
        let stop = CancellationToken::new();
        let lane = |_| {
            let (sender, mut waiting) = mpsc::channel::<Waiting>(MOST_WAITING);
            let (account, gateway) = (Arc::clone(account), gateway.clone());
            let (progress, cancel, stop) = (Arc::clone(progress), cancel.clone(), stop.clone());
            tasks.spawn(async move {
                let work = async {
                    while let Some((number, message)) = waiting.recv().await {
                        if receive::hear(&account, &gateway, &cancel, &message).await {
                            progress.done(number);
                        }
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
    pub(super) async fn put(&self, waiting: Waiting, cancel: &CancellationToken) {
        // The low bits of an id count within a millisecond; the time is above them.
        let lane = (waiting.1.channel_id.number() >> 22) % LANES;
        let Some(lane) = usize::try_from(lane)
            .ok()
            .and_then(|lane| self.waiting.get(lane))
        else {
            return;
        };
        tokio::select! {
            _ = lane.send(waiting) => {}
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
