//! Where the words of a turn go: silent ones nowhere, the others in pieces to the place that the job names.

use super::sessions::Marks;
use super::{Inner, What};
use crate::address::Address;
use crate::job::{Job, JobKind, Outcome, Status};
use crate::surface::{Action, Again, Outgoing, Surface, SurfaceError};
use chitin_protocol::event::TurnEvent;
use chitin_store::Change;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long a surface may take to send one message.
const LONGEST_SEND: Duration = Duration::from_mins(1);
/// How often a message is tried.
const ATTEMPTS: u32 = 5;
/// How long to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a surface may ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// The words of one job on their way.
pub(super) struct Delivery {
    inner: Arc<Inner>,
    job: Arc<Job>,
    /// Which pieces are out already.
    marks: Marks,
    to: Option<(Arc<dyn Surface>, Address)>,
    /// Whether a message went out that replies to the one that began the turn.
    replied: bool,
    /// Whether anything went out.
    said: bool,
}

impl Delivery {
    pub(super) fn new(inner: Arc<Inner>, job: Arc<Job>, marks: Marks) -> Self {
        let to = job.deliver.as_ref().and_then(|address| {
            let surface = inner.parts.surfaces.get(&address.channel)?;
            Some((Arc::clone(surface), address.clone()))
        });
        Self {
            replied: !marks.is_empty(),
            said: !marks.is_empty(),
            inner,
            job,
            marks,
            to,
        }
    }

    /// Returns which pieces are out.
    pub(super) fn into_marks(self) -> Marks {
        self.marks
    }

    /// Tells the events of a turn, and sends what is said in it.
    pub(super) async fn listen(&mut self, mut events: mpsc::Receiver<TurnEvent>) {
        while let Some(event) = events.recv().await {
            let said = match &event {
                TurnEvent::Said { index, text } => Some((*index, text.clone())),
                TurnEvent::TurnStarted { .. } => {
                    self.show_typing();
                    None
                }
                _ => None,
            };
            self.inner
                .tell(&self.job.session_key, &self.job.id, || What::Turn { event });
            if let Some((index, text)) = said {
                self.say(&index.to_string(), &text).await;
            }
        }
    }

    /// The turn is over. A person who waits hears when nothing came of it.
    pub(super) async fn end(&mut self, outcome: &Outcome) {
        let waits = matches!(self.job.kind, JobKind::Message | JobKind::SessionSend);
        match (&outcome.status, &outcome.error) {
            (Status::Failed, Some(error)) if waits => {
                let text = format!("This did not work: {error}");
                self.say("error", &text).await;
            }
            (Status::TimedOut, _) if waits && !self.said => {
                self.say("error", "This took too long and was stopped.")
                    .await;
            }
            _ => {}
        }
    }

    /// Shows that somebody types, where that can be seen; nobody waits for it.
    fn show_typing(&self) {
        let Some((surface, address)) = &self.to else {
            return;
        };
        if surface.capabilities().typing {
            let (surface, address) = (Arc::clone(surface), address.clone());
            self.inner.tasks.spawn(async move {
                let typing = surface.act(&address, &Action::Typing);
                let _ = tokio::time::timeout(Duration::from_secs(5), typing).await;
            });
        }
    }

    /// Sends a text, piece by piece. Pieces that are out already are not sent again.
    async fn say(&mut self, part: &str, text: &str) {
        let Some((surface, address)) = self.to.clone() else {
            return;
        };
        let Some(text) = self.inner.shown(&self.job, text) else {
            return;
        };
        self.said = true;
        for (piece, cut) in self
            .inner
            .cut(&*surface, &address, &text)
            .into_iter()
            .enumerate()
        {
            let mark = format!("{part}:{piece}");
            let reply_to = self.reply_to();
            if self.marks.contains(&mark) {
                continue;
            }
            let message = Outgoing {
                key: format!("{}:{mark}", self.job.id),
                text: cut.text,
                plain: cut.plain,
                reply_to,
                ..Outgoing::default()
            };
            let sent = send(&*surface, &address, &message).await;
            match sent {
                Ok(sent) => {
                    let id = self.job.id.clone();
                    self.marks.insert(mark.clone());
                    self.inner
                        .parts
                        .ledger
                        .note(vec![Change::Mark { id, mark }]);
                    self.inner
                        .tell(&self.job.session_key, &self.job.id, || What::Delivered {
                            to: address.to_string(),
                            message_id: sent.message_id,
                            text: message.plain,
                        });
                }
                Err(error) => {
                    (self.inner.parts.note)(&format!(
                        "words for `{address}` could not be sent: {error}"
                    ));
                    self.inner
                        .tell(&self.job.session_key, &self.job.id, || What::NotDelivered {
                            to: address.to_string(),
                            reason: error.to_string(),
                        });
                }
            }
        }
    }

    /// Returns the message that the next piece replies to (R74, R75).
    fn reply_to(&mut self) -> Option<String> {
        let first = !std::mem::replace(&mut self.replied, true);
        self.inner.reply_to(&self.job, first)
    }
}

/// Sends a message; what may work later is tried again a few times.
pub(super) async fn send(
    surface: &dyn Surface,
    to: &Address,
    message: &Outgoing,
) -> Result<crate::surface::Sent, SurfaceError> {
    let mut wait = FIRST_WAIT;
    let mut attempt = 1;
    loop {
        let sending = tokio::time::timeout(LONGEST_SEND, surface.send(to, message)).await;
        let error = match sending {
            Ok(Ok(sent)) => return Ok(sent),
            Ok(Err(error)) => error,
            Err(_) => SurfaceError::soon("The surface did not answer in time."),
        };
        let pause = match error.again {
            Again::Never => return Err(error),
            Again::Soon => wait,
            Again::After(milliseconds) => Duration::from_millis(milliseconds).min(LONGEST_WAIT),
        };
        if attempt == ATTEMPTS {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
        attempt += 1;
        wait *= 2;
    }
}
