//! What a network hears: who is let in, who has to wait for the owner, what is only kept in mind.

use super::accept::Where;
use super::{Addressed, IntakeRefusal, Noticed, ReceiveOutcome};
use crate::access::AccessVerdict;
use crate::events::JobPlacement;
use crate::gateway::{Gateway, Inner};
use crate::surface::Address;
use chitin_protocol::session_key::ChatType;
use std::sync::Arc;

impl Gateway {
    /// Hears a message on a network. When this returns, a message that was taken in is on the disk. A network hands in a message again
    /// when this fails with something that may pass.
    pub async fn notice(&self, mut noticed: Noticed) -> Result<ReceiveOutcome, IntakeRefusal> {
        let inner = &self.0;
        inner.must_be_open()?;
        let trust = &inner.parts.trust;
        if noticed.addressed == Addressed::No {
            let agent = || Some(inner.where_to(&noticed.incoming).ok()?.1);
            if trust.is_called(&noticed.incoming.text, agent) {
                noticed.addressed = Addressed::Named;
            }
        }
        match trust.judge(&noticed) {
            AccessVerdict::Heard { owner } => {
                noticed.incoming.is_owner = owner;
                inner.hear(noticed).await
            }
            AccessVerdict::Overheard => {
                trust.overhear(&noticed);
                Ok(ReceiveOutcome::Overheard)
            }
            AccessVerdict::Unknown => inner.ask_owner(noticed).await,
            AccessVerdict::Refused(reason) => {
                trust.turn_away(&noticed, &reason);
                Ok(ReceiveOutcome::Ignored(reason))
            }
        }
    }
}

impl Inner {
    /// Takes in what somebody says who is heard, with what was overheard there before.
    async fn hear(self: &Arc<Self>, noticed: Noticed) -> Result<ReceiveOutcome, IntakeRefusal> {
        let trust = &self.parts.trust;
        let peer = noticed.incoming.inbound.peer.as_ref();
        let place = match peer.map(|peer| peer.kind) {
            Some(ChatType::Direct) | None => Where::Alone,
            Some(ChatType::Group | ChatType::Channel) => Where::InRoom,
        };
        let (mut before, until) = trust.overheard(&noticed);
        if before.is_some() && self.knows_past(&noticed) {
            before = None;
        }
        let told = noticed.clone();
        let accepted = match self.accept(noticed, place, before.as_deref()).await {
            Err(IntakeRefusal::ChannelShut { reason, .. }) => {
                trust.turn_away(&told, &reason);
                self.say_refused(&told, &reason).await;
                return Ok(ReceiveOutcome::Ignored(reason));
            }
            // A network hands in a message once, or again at its own time: whoever wrote it is told.
            Err(refusal @ IntakeRefusal::QueueFull { .. }) => {
                let reason = format!("{refusal}. Send the message again later.");
                self.say_refused(&told, &reason).await;
                return Ok(ReceiveOutcome::Ignored(reason));
            }
            accepted => accepted?,
        };
        if accepted.place != JobPlacement::Known {
            trust.forget_overheard(&told, until);
        }
        Ok(ReceiveOutcome::Taken(accepted))
    }

    /// Tells a sender that a message was not accepted.
    async fn say_refused(&self, noticed: &Noticed, reason: &str) {
        let Some(place) = Address::of(&noticed.incoming.inbound) else {
            return;
        };
        let key = format!("shut:{}", self.name(&noticed.incoming));
        self.say_at(&place, &key, reason).await;
    }

    /// Tells whether a message begins the session of a thread, which is told the thread's past anyway.
    fn knows_past(&self, noticed: &Noticed) -> bool {
        let Some(from) = Address::of(&noticed.incoming.inbound) else {
            return false;
        };
        let session = self.where_to(&noticed.incoming);
        session.is_ok_and(|(key, agent)| self.begins_with(&from, &key, &agent).is_some())
    }
}
