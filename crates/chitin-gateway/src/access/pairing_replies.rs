//! Pairing as senders see it: an unknown sender gets a code, an approved one a welcome.

use super::{AccessControl, Asking, TrustError, TurnedAway};
use crate::gateway::{Gateway, Inner};
use crate::intake::{IntakeRefusal, Noticed, ReceiveOutcome};
use crate::surface::{Address, OutgoingMessage};
use std::sync::Arc;
use std::time::Duration;

/// How often is looked whether another process let somebody in.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What somebody is told who is let in.
const WELCOME: &str =
    "You are approved and can write to me now. I did not read your earlier messages.";

impl Gateway {
    /// Returns who is heard.
    pub fn trust(&self) -> Arc<AccessControl> {
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
    /// Notes that somebody asks to be let in, and tells them how. Nothing of what they wrote is kept.
    pub(crate) async fn ask_owner(
        self: &Arc<Self>,
        noticed: Noticed,
    ) -> Result<ReceiveOutcome, IntakeRefusal> {
        let trust = Arc::clone(&self.parts.trust);
        let place = Address::of(&noticed.incoming.inbound);
        let asked = tokio::task::spawn_blocking(move || {
            let asked = trust.ask(&noticed);
            let reason = match &asked {
                Ok(Asking::Tell(_) | Asking::Quiet) => {
                    "its sender has a pending pairing request".to_owned()
                }
                Ok(Asking::Full) => {
                    "its sender is unknown, and there are too many pending pairing requests"
                        .to_owned()
                }
                Err(error) => error.to_string(),
            };
            trust.turn_away(&noticed, &reason);
            (asked, reason)
        });
        let (asked, reason) = asked.await.map_err(|_| IntakeRefusal::Closing)?;
        match asked {
            Ok(Asking::Tell(code)) => {
                if let Some(place) = place {
                    let key = format!("pairing:{code}:{}", self.parts.clock.now_ms());
                    self.say_at(&place, &key, &invitation(&code)).await;
                }
                Ok(ReceiveOutcome::Unknown)
            }
            Ok(Asking::Quiet) => Ok(ReceiveOutcome::Unknown),
            Ok(Asking::Full) => Ok(ReceiveOutcome::Ignored(reason)),
            Err(error) => {
                self.note_trust(&error);
                Ok(ReceiveOutcome::Ignored(reason))
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
    pub(crate) async fn say_at(&self, place: &Address, key: &str, text: &str) {
        let Some(surface) = self.parts.surfaces.get(&place.channel) else {
            return;
        };
        for (index, piece) in self.cut(&**surface, place, text).into_iter().enumerate() {
            let message = OutgoingMessage {
                key: format!("{key}:{index}"),
                plain: piece.plain.unwrap_or_else(|| piece.body.clone()),
                text: piece.body,
                ..OutgoingMessage::default()
            };
            if let Err(error) = self.send(&**surface, place, &message).await {
                let reason = error.message;
                (self.parts.note)(&format!("could not send a message to `{place}`: {reason}"));
                return;
            }
        }
    }

    fn note_trust(&self, error: &TrustError) {
        (self.parts.note)(&format!("could not read the approved senders: {error}"));
    }
}

/// What somebody is told who is not known.
fn invitation(code: &str) -> String {
    format!(
        "I do not know you yet, so I did not read your message. To get access, give my owner this code within an hour: `{code}`\n\n\
         The owner runs: `chitin pairing approve {code}`"
    )
}
