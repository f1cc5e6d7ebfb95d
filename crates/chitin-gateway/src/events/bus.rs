//! Tells whoever listens what happens: to one job, to one session, or to all. Nobody waits for a slow listener.

use super::{EventKind, GatewayEvent};
use crate::gateway::{Gateway, Inner};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::broadcast;

/// How many happenings a listener may be behind before it misses some.
const BEHIND: usize = 1024;

/// What to listen to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Everything.
    All,
    /// One session.
    Session(String),
    /// One job.
    Job(String),
}

/// Tells happenings.
#[derive(Debug, Default)]
pub struct EventBus {
    topics: Arc<Mutex<HashMap<Topic, broadcast::Sender<Arc<GatewayEvent>>>>>,
    /// Jobs whose work another one does: whoever listens to them hears of that one. By that one's name.
    followed: Mutex<HashMap<String, Vec<String>>>,
    seq: AtomicU64,
}

/// Listens to a topic until it is dropped.
#[derive(Debug)]
pub struct Subscription {
    receiver: broadcast::Receiver<Arc<GatewayEvent>>,
    topic: Topic,
    topics: Weak<Mutex<HashMap<Topic, broadcast::Sender<Arc<GatewayEvent>>>>>,
}

/// What a listener hears.
#[derive(Debug, Clone)]
pub enum ListenerEvent {
    /// Something happened.
    Happening(Arc<GatewayEvent>),
    /// So many happenings were missed: the listener was too slow.
    Missed(u64),
}

impl EventBus {
    /// Begins to listen.
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = topics
            .entry(topic.clone())
            .or_insert_with(|| broadcast::channel(BEHIND).0);
        Subscription {
            receiver: sender.subscribe(),
            topic,
            topics: Arc::downgrade(&self.topics),
        }
    }

    /// From now on, whoever listens to a job hears of another one that does its work, until that one is over. Called
    /// before the other one begins, so that nothing of it is missed.
    pub(crate) fn follow(&self, job_id: &str, other: &str) {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if topics.contains_key(&Topic::Job(job_id.to_owned())) {
            let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
            let followers = followed.entry(other.to_owned()).or_default();
            followers.push(job_id.to_owned());
        }
    }

    /// A job is over: nobody follows it any more.
    pub(crate) fn forget(&self, job_id: &str) {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.remove(job_id);
    }

    fn followers(&self, job_id: &str) -> Vec<String> {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        followed.get(job_id).cloned().unwrap_or_default()
    }

    /// Tells what happened. Nothing is made when nobody listens.
    pub(crate) fn tell(
        &self,
        at: i64,
        session_key: &str,
        job_id: &str,
        what: impl FnOnce() -> EventKind,
    ) {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if topics.is_empty() {
            return;
        }
        let topic = |topic: Topic| topics.get(&topic);
        let mut wanted = vec![
            topic(Topic::Job(job_id.to_owned())),
            topic(Topic::Session(session_key.to_owned())),
            topic(Topic::All),
        ];
        let followers = self.followers(job_id).into_iter();
        wanted.extend(followers.map(|job| topic(Topic::Job(job))));
        if wanted.iter().all(Option::is_none) {
            return;
        }
        let happening = Arc::new(GatewayEvent {
            seq: self.seq.fetch_add(1, Ordering::Relaxed),
            at,
            session_key: session_key.to_owned(),
            job_id: job_id.to_owned(),
            what: what(),
        });
        for sender in wanted.into_iter().flatten() {
            let _ = sender.send(Arc::clone(&happening));
        }
    }
}

impl Subscription {
    /// Waits for the next happening; nothing comes when the gateway is gone.
    pub async fn next(&mut self) -> Option<ListenerEvent> {
        match self.receiver.recv().await {
            Ok(happening) => Some(ListenerEvent::Happening(happening)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(ListenerEvent::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(topics) = self.topics.upgrade() else {
            return;
        };
        let mut topics = topics.lock().unwrap_or_else(PoisonError::into_inner);
        let last = topics
            .get(&self.topic)
            .is_some_and(|sender| sender.receiver_count() <= 1);
        if last {
            topics.remove(&self.topic);
        }
    }
}

impl Gateway {
    /// Listens to what happens.
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        self.0.hub.subscribe(topic)
    }
}

impl Inner {
    pub(crate) fn tell(&self, session_key: &str, job_id: &str, what: impl FnOnce() -> EventKind) {
        let now = self.parts.clock.now_ms();
        self.hub.tell(now, session_key, job_id, what);
    }
}
