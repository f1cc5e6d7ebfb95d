//! What tools may know of the turn that they are part of.

use crate::gateway::Inner;
use crate::jobs::Job;
use crate::surface::{Address, OutgoingMessage, Sent, Surface, SurfaceError};
use chitin_store::JobChange;
use sha2::{Digest, Sha256};

/// What marks of words begin with that a tool sent.
pub(crate) const SAID: &str = "said ";

impl Inner {
    /// Sends a message; what may work later is tried again a few times.
    pub(crate) async fn send(
        &self,
        surface: &dyn Surface,
        to: &Address,
        message: &OutgoingMessage,
    ) -> Result<Sent, SurfaceError> {
        super::send::send(surface, to, message).await
    }

    /// Remembers, past a crash too, that a tool of a turn said something somewhere, so that the answer need not say it again.
    pub(crate) fn note_said(&self, job: &Job, place: &Address, text: &str) {
        let mark = said(place, text);
        if let Some(session) = self.busy.lock().get_mut(&job.session_key)
            && let Some(active) = &mut session.active
        {
            active.said.insert(mark.clone());
        }
        let id = job.id.clone();
        self.parts.ledger.note(vec![JobChange::Mark { id, mark }]);
    }

    /// Tells whether a tool of a session's turn said something somewhere.
    pub(crate) fn was_said(&self, session_key: &str, mark: &str) -> bool {
        let busy = self.busy.lock();
        let active = busy.get(session_key).and_then(|it| it.active.as_ref());
        active.is_some_and(|active| active.said.contains(mark))
    }

    /// Tells whether a tool of a session's turn said anything where people read it.
    pub(crate) fn a_tool_spoke(&self, session_key: &str) -> bool {
        let busy = self.busy.lock();
        let active = busy.get(session_key).and_then(|it| it.active.as_ref());
        active.is_some_and(|active| !active.said.is_empty())
    }
}

/// Makes the mark of words at a place; how they are broken into lines does not matter.
pub(crate) fn said(place: &Address, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let digest = Sha256::digest(format!("{place}\n{}", words.join(" ")));
    SAID.to_owned() + &hex::encode(&digest[..16])
}
