//! Things to do, place by place: what happened in one place is done in its order, and places do not wait for each other.

use futures_util::future::BoxFuture;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::task::TaskTracker;

/// The most things that wait.
const MOST: usize = 1_000;

/// Things to do, place by place.
#[derive(Default)]
pub(crate) struct Lines {
    state: Mutex<State>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct State {
    /// A place has a line while somebody works on it.
    waiting: HashMap<String, VecDeque<BoxFuture<'static, ()>>>,
    count: usize,
}

impl Lines {
    /// Puts something at the end of a place's line. Returns false, and does nothing, when too much waits already.
    pub(crate) fn push(self: &Arc<Self>, place: String, job: BoxFuture<'static, ()>) -> bool {
        let mut state = self.lock();
        if state.count >= MOST {
            return false;
        }
        state.count += 1;
        if let Some(line) = state.waiting.get_mut(&place) {
            line.push_back(job);
            return true;
        }
        state.waiting.insert(place.clone(), VecDeque::new());
        drop(state);
        let lines = Arc::clone(self);
        self.tasks.spawn(async move {
            let mut next = Some(job);
            while let Some(job) = next {
                job.await;
                next = lines.done(&place);
            }
        });
        true
    }

    /// Waits until nothing is left to do. Nothing should be pushed any more.
    pub(crate) async fn empty(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }

    /// One thing is done: returns the next.
    fn done(&self, place: &str) -> Option<BoxFuture<'static, ()>> {
        let mut state = self.lock();
        state.count = state.count.saturating_sub(1);
        let next = state.waiting.get_mut(place).and_then(VecDeque::pop_front);
        if next.is_none() {
            state.waiting.remove(place);
        }
        next
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
