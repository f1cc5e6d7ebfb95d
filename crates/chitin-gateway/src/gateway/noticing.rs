//! What a network hears: who is let in, who has to wait for the owner, what is only kept in mind.

use super::accepting::Where;
use super::{Gateway, Inner, Place, Refusal};
use crate::address::Address;
use crate::incoming::{Addressed, Notice, Noticed};
use crate::surface::Outgoing;
use crate::trust::{Asking, Trust, TrustError, TurnedAway, Verdict};
use chitin_protocol::session_key::ChatType;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often is looked whether another process let somebody in.
const LOOK_EVERY: Duration = Duration::from_secs(2);

impl Gateway {
    /// Hears a message on a network. When this returns, a message that was taken in is on the disk. A network hands in a message again
    /// when this fails with something that may pass.
    pub async fn notice(&self, mut noticed: Noticed) -> Result<Notice, Refusal> {
        let inner = &self.0;
        if inner.closing.load(Ordering::Relaxed) {
            return Err(Refusal::Closing);
        }
        let trust = &inner.parts.trust;
        if noticed.addressed == Addressed::No {
            let agent = || Some(inner.where_to(&noticed.incoming).ok()?.1);
            if trust.is_called(&noticed.incoming.text, agent) {
                noticed.addressed = Addressed::Named;
            }
        }
        match trust.judge(&noticed) {
            Verdict::Heard { owner } => {
                noticed.incoming.is_owner = owner;
                inner.hear(noticed).await
            }
            Verdict::Overheard => {
                trust.overhear(&noticed);
                Ok(Notice::Overheard)
            }
            Verdict::Unknown => inner.ask_owner(noticed).await,
            Verdict::Refused(reason) => {
                trust.turn_away(&noticed, &reason);
                Ok(Notice::Ignored(reason))
            }
        }
    }

    /// Returns who is heard.
    pub fn trust(&self) -> Arc<Trust> {
        Arc::clone(&self.0.parts.trust)
    }

    /// Lists who was turned away lately, the latest first.
    pub fn turned_away(&self) -> Vec<TurnedAway> {
        self.0.parts.trust.turned_away()
    }

    /// Tells those who are let in from now on that they are, whichever process let them in. Once, when the networks are there.
    pub fn start_greetings(&self) {
        let inner = Arc::clone(&self.0);
        self.0.tasks.spawn(async move {
            loop {
                inner.greet().await;
                tokio::select! {
                    () = inner.ending.cancelled() => return,
                    () = inner.parts.trust.approval() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
        });
    }
}

impl Inner {
    /// Takes in what somebody says who is heard, with what was overheard there before.
    async fn hear(self: &Arc<Self>, noticed: Noticed) -> Result<Notice, Refusal> {
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
            Err(Refusal::ChannelShut { reason, .. }) => {
                trust.turn_away(&told, &reason);
                self.say_shut(&told, &reason).await;
                return Ok(Notice::Ignored(reason));
            }
            accepted => accepted?,
        };
        if accepted.place != Place::Known {
            trust.forget_overheard(&told, until);
        }
        Ok(Notice::Taken(accepted))
    }

    /// Tells a sender that the agent does not take messages there.
    async fn say_shut(&self, noticed: &Noticed, reason: &str) {
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

    /// Notes that somebody asks to be let in, and tells them how. Nothing of what they wrote is kept.
    async fn ask_owner(self: &Arc<Self>, noticed: Noticed) -> Result<Notice, Refusal> {
        let trust = Arc::clone(&self.parts.trust);
        let place = Address::of(&noticed.incoming.inbound);
        let asked = tokio::task::spawn_blocking(move || {
            let asked = trust.ask(&noticed);
            let reason = match &asked {
                Ok(Asking::Tell(_) | Asking::Quiet) => "its sender waits to be let in".to_owned(),
                Ok(Asking::Full) => {
                    "its sender is not known, and too many wait to be let in".to_owned()
                }
                Err(error) => error.to_string(),
            };
            trust.turn_away(&noticed, &reason);
            (asked, reason)
        });
        let (asked, reason) = asked.await.map_err(|_| Refusal::Closing)?;
        match asked {
            Ok(Asking::Tell(code)) => {
                if let Some(place) = place {
                    let key = format!("pairing:{code}:{}", self.parts.clock.now_ms());
                    self.say_at(&place, &key, &invitation(&code)).await;
                }
                Ok(Notice::Unknown)
            }
            Ok(Asking::Quiet) => Ok(Notice::Unknown),
            Ok(Asking::Full) => Ok(Notice::Ignored(reason)),
            Err(error) => {
                self.note_trust(&error);
                Ok(Notice::Ignored(reason))
            }
        }
    }

    /// Tells those who were let in and do not know it yet.
    async fn greet(self: &Arc<Self>) {
        let trust = Arc::clone(&self.parts.trust);
        let greeting = tokio::task::spawn_blocking(move || trust.take_greetings());
        let places = match greeting.await {
            Ok(Ok(places)) => places,
            Ok(Err(error)) => return self.note_trust(&error),
            Err(_) => return,
        };
        for place in places {
            let key = format!("paired:{place}:{}", self.parts.clock.now_ms());
            self.say_at(&place, &key, WELCOME).await;
        }
    }

    /// Says something that no turn said. What cannot be said is noted.
    async fn say_at(&self, place: &Address, key: &str, text: &str) {
        let Some(surface) = self.parts.surfaces.get(&place.channel) else {
            return;
        };
        for (index, piece) in self.cut(&**surface, place, text).into_iter().enumerate() {
            let message = Outgoing {
                key: format!("{key}:{index}"),
                plain: piece.plain.unwrap_or_else(|| piece.body.clone()),
                text: piece.body,
                ..Outgoing::default()
            };
            if let Err(error) = self.send(&**surface, place, &message).await {
                let reason = error.message;
                (self.parts.note)(&format!("nothing could be said at `{place}`: {reason}"));
                return;
            }
        }
    }

    fn note_trust(&self, error: &TrustError) {
        (self.parts.note)(&format!("who may talk to agents is not known: {error}"));
    }
}

/// What somebody is told who is let in.
const WELCOME: &str =
    "You are let in. Write to me whenever you like; what you wrote before I have not read.";

/// What somebody is told who is not known.
fn invitation(code: &str) -> String {
    format!(
        "I do not know you yet, so I did not read what you wrote. To be let in, give my owner this code within an hour: `{code}`\n\n\
         The owner types: `chitin pairing approve {code}`"
    )
}
