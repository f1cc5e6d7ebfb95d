//! Work in queues, one queue per key: what has the same key is done in order, and different keys do not wait for each other.
//!
//! Channels hand in their messages through it, by conversation. The turns of a session do not: they are futures that borrow their
//! caller's input, so `chitin-agent` lets them wait for a lock per session, and how many turns run at once is `turn_slots.rs`.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Queues of work, one per key.
pub struct SerialQueues {
    /// A key has a queue while its work is being done.
    queues: Mutex<HashMap<String, VecDeque<Work>>>,
    room: Arc<Semaphore>,
    at_once: Semaphore,
    tasks: TaskTracker,
    stop: CancellationToken,
}

struct Work {
    job: BoxFuture<'static, ()>,
    /// Given back when the job is done.
    _room: OwnedSemaphorePermit,
}

impl SerialQueues {
    /// Makes queues that hold so many jobs in all, and do so many at once.
    pub fn new(most: usize, at_once: usize) -> Arc<Self> {
        Arc::new(Self {
            queues: Mutex::default(),
            room: Arc::new(Semaphore::new(most)),
            at_once: Semaphore::new(at_once),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        })
    }

    /// Puts a job at the end of its queue. Returns false, and drops the job, when there is no room.
    pub fn try_push(self: &Arc<Self>, key: &str, job: BoxFuture<'static, ()>) -> bool {
        let room = Arc::clone(&self.room).try_acquire_owned();
        room.is_ok_and(|room| {
            self.add(key, Work { job, _room: room });
            true
        })
    }

    /// Puts a job at the end of its queue as soon as there is room. Safe to cancel: the job is then dropped.
    pub async fn push(self: &Arc<Self>, key: &str, job: BoxFuture<'static, ()>) {
        // The semaphore is never closed.
        if let Ok(room) = Arc::clone(&self.room).acquire_owned().await {
            self.add(key, Work { job, _room: room });
        }
    }

    /// Waits until all work is done. Work that is pushed meanwhile is waited for as well.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    /// Waits until all work is done, but no longer than this; then what is left is dropped. Nothing can be done after that.
    pub async fn end(&self, longest: Duration) {
        if tokio::time::timeout(longest, self.finish()).await.is_err() {
            self.stop.cancel();
            self.finish().await;
        }
    }

    fn add(self: &Arc<Self>, key: &str, work: Work) {
        match self.lock().entry(key.to_owned()) {
            Entry::Occupied(mut queue) => return queue.get_mut().push_back(work),
            Entry::Vacant(place) => place.insert(VecDeque::from([work])),
        };
        let (queues, key) = (Arc::clone(self), key.to_owned());
        self.tasks.spawn(async move {
            let working = queues.work_off(&key);
            queues.stop.run_until_cancelled(working).await;
        });
    }

    async fn work_off(&self, key: &str) {
        while let Some(work) = self.next(key) {
            let _turn = self.at_once.acquire().await;
            // A mistake in one job does not take the others of its key with it.
            if AssertUnwindSafe(work.job).catch_unwind().await.is_err() {
                tracing::error!(key, "a job in a queue panicked");
            }
        }
    }

    fn next(&self, key: &str) -> Option<Work> {
        let mut queues = self.lock();
        let next = queues.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            queues.remove(key);
        }
        next
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Work>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for SerialQueues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SerialQueues").finish_non_exhaustive()
    }
}
