//! How far the events of an account were handed in. What came after that is asked for again after a restart.

use crate::account::Account;
use crate::positions::{Point, PositionStore};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use twilight_gateway::Session;

/// How often it is written down, when there is something new.
const EVERY: Duration = Duration::from_secs(1);

/// How far events were handed in.
pub(super) struct Progress {
    memory: Arc<PositionStore>,
    via: Option<String>,
    known: Mutex<Known>,
}

/// The number of an event. Each session counts anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    session: u64,
    sequence: u64,
}

#[derive(Default)]
struct Known {
    session: Option<(String, String)>,
    /// The last event that came.
    heard: u64,
    /// Messages that are on their way.
    open: BTreeSet<Number>,
    /// How many sessions there were.
    sessions: u64,
    kept: Option<Point>,
}

impl Progress {
    pub(super) fn new(memory: &Arc<PositionStore>, via: Option<&str>) -> Self {
        Self {
            memory: Arc::clone(memory),
            via: via.map(str::to_owned),
            known: Mutex::default(),
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        self.memory.is_kept()
    }

    /// Returns where an earlier run was, if it went the same way.
    pub(super) fn recall(&self, account: &Account) -> Option<Point> {
        let point = self.memory.recall(&account.id)?;
        (point.via == self.via).then_some(point)
    }

    /// Hears how far the connection is. Returns the number of the event; one that is a message is on its way until it is done.
    pub(super) fn heard(
        &self,
        session: Option<&Session>,
        url: Option<&str>,
        message: bool,
    ) -> Number {
        self.look(|known| {
            let Some(session) = session else {
                return Number::default();
            };
            let same = known.session.as_ref();
            if same.is_none_or(|(id, _)| id != session.id()) {
                known.sessions += 1;
            }
            let url = url.unwrap_or_default().to_owned();
            known.session = Some((session.id().to_owned(), url));
            known.heard = session.sequence();
            let number = Number {
                session: known.sessions,
                sequence: known.heard,
            };
            if message {
                known.open.insert(number);
            }
            number
        })
    }

    /// A message was handed in, or never will be.
    pub(super) fn done(&self, number: Number) {
        self.look(|known| known.open.remove(&number));
    }

    /// Writes down how far it is, now and then, until this is dropped.
    pub(super) async fn keep_on(&self, account: &Account) {
        loop {
            tokio::time::sleep(EVERY).await;
            self.keep(account).await;
        }
    }

    /// Writes down how far it is, if there is something new.
    pub(super) async fn keep(&self, account: &Account) {
        let Some(point) = self.due() else {
            return;
        };
        let (memory, id) = (Arc::clone(&self.memory), account.id.clone());
        let writing = {
            let point = point.clone();
            tokio::task::spawn_blocking(move || memory.keep(&id, &point))
        };
        match writing.await {
            Ok(Ok(())) => {}
            Ok(Err(reason)) => {
                account.tell(&format!("how far it was read cannot be kept: {reason}"));
            }
            Err(_) => account.tell("how far it was read could not be kept"),
        }
        // Also after a failure: it is tried again when there is something new.
        self.look(|known| known.kept = Some(point));
    }

    fn due(&self) -> Option<Point> {
        if !self.memory.is_kept() {
            return None;
        }
        self.look(|known| {
            let (session_id, resume_url) = known.session.clone()?;
            let first = known.open.first();
            if first.is_some_and(|first| first.session < known.sessions) {
                // What is remembered still leads to a message of the session before, and this one's does not.
                return None;
            }
            let first_open = first.map(|first| first.sequence.saturating_sub(1));
            let point = Point {
                session_id,
                resume_url,
                sequence: first_open.unwrap_or(known.heard),
                via: self.via.clone(),
            };
            (known.kept.as_ref() != Some(&point)).then_some(point)
        })
    }

    fn look<T>(&self, looking: impl FnOnce(&mut Known) -> T) -> T {
        looking(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
