//! Messages that arrive during a turn: the model gets them with its next request.

use chitin_protocol::message::ImageBlock;
use chitin_protocol::origin::Origin;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many messages can wait for one turn.
const MOST: usize = 64;

/// Passes messages to a running turn. Clones belong to the same turn.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    words: VecDeque<Steer>,
    closed: bool,
}

/// A message for a running turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Steer {
    /// Its text.
    pub words: String,
    /// Images that belong to it.
    pub images: Vec<ImageBlock>,
    /// The key under which it is stored, so that it is taken once.
    pub key: Option<String>,
    /// Its origin, if no person sent it.
    pub provenance: Option<Value>,
    /// What the sender wrote, if the text has more than that.
    pub written: Option<String>,
    /// Where texts in it come from that are not the owner's.
    pub origins: Vec<Origin>,
}

impl Steering {
    /// Passes a message to the turn, or returns it if the turn takes no more.
    pub fn push(&self, steer: Steer) -> Result<(), Box<Steer>> {
        let mut waiting = self.waiting();
        if waiting.closed || waiting.words.len() >= MOST {
            return Err(Box::new(steer));
        }
        waiting.words.push_back(steer);
        Ok(())
    }

    /// Closes it and returns what was not taken.
    pub fn close(&self) -> Vec<Steer> {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.words.drain(..).collect()
    }

    /// Takes the waiting messages.
    pub(crate) fn take(&self) -> Vec<Steer> {
        self.waiting().words.drain(..).collect()
    }

    /// Takes the waiting messages; closes if there are none, so that none is lost in between.
    pub(crate) fn take_or_close(&self) -> Vec<Steer> {
        let mut waiting = self.waiting();
        waiting.closed = waiting.words.is_empty();
        waiting.words.drain(..).collect()
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
