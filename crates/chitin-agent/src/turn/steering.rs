//! Words that come while a turn runs: the model hears them as soon as it has finished what it is at.

use chitin_protocol::message::ImageBlock;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many messages wait to be heard in one turn.
const MOST: usize = 64;

/// The way into a turn that runs. Clones lead into the same turn.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    words: VecDeque<Steer>,
    closed: bool,
}

/// Words for a turn that runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Steer {
    /// The words.
    pub words: String,
    /// Pictures that go with them.
    pub images: Vec<ImageBlock>,
    /// The name under which they are stored, so that they are heard once.
    pub key: Option<String>,
    /// Where they come from, when no person said them.
    pub provenance: Option<Value>,
    /// What was written, where the words hold more than that.
    pub written: Option<String>,
}

impl Steering {
    /// Gives words to the turn, or gives them back when it hears nothing more.
    pub fn push(&self, steer: Steer) -> Result<(), Box<Steer>> {
        let mut waiting = self.waiting();
        if waiting.closed || waiting.words.len() >= MOST {
            return Err(Box::new(steer));
        }
        waiting.words.push_back(steer);
        Ok(())
    }

    /// Shuts the way in and returns what was not heard.
    pub fn close(&self) -> Vec<Steer> {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.words.drain(..).collect()
    }

    /// Returns what waits.
    pub(crate) fn take(&self) -> Vec<Steer> {
        self.waiting().words.drain(..).collect()
    }

    /// Returns what waits; if nothing does, shuts the way in, so that nothing gets lost between the two.
    pub(crate) fn take_or_close(&self) -> Vec<Steer> {
        let mut waiting = self.waiting();
        waiting.closed = waiting.words.is_empty();
        waiting.words.drain(..).collect()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
