//! Who is there to answer: pages and programs that listen and said that they can.

use crate::events::Topic;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many listeners there are that can answer, by what they hear.
pub(super) type Listeners = HashMap<Topic, usize>;

/// Somebody who can answer questions about a topic, until this is dropped.
#[derive(Debug)]
pub struct Answering {
    topic: Topic,
    listeners: Arc<Mutex<Listeners>>,
}

impl Answering {
    pub(super) fn new(topic: Topic, listeners: Arc<Mutex<Listeners>>) -> Self {
        let mut counted = listeners.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.entry(topic.clone()).or_default() += 1;
        drop(counted);
        Self { topic, listeners }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut counted = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counted.get_mut(&self.topic) {
            *count -= 1;
            if *count == 0 {
                counted.remove(&self.topic);
            }
        }
    }
}

/// Tells whether somebody hears a session's questions, or this job's.
pub(super) fn anybody(listeners: &Mutex<Listeners>, session_key: &str, job_id: &str) -> bool {
    let counted = listeners.lock().unwrap_or_else(PoisonError::into_inner);
    counted.keys().any(|topic| match topic {
        Topic::All => true,
        Topic::Session(key) => key == session_key,
        Topic::Job(id) => id == job_id,
    })
}
