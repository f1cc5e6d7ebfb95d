//! Where the words of a turn go: silent ones nowhere, the others in pieces to the place that the job names.

use super::sessions::Marks;
use super::streaming::Blocks;
use super::{Inner, What, threading, turns};
use crate::address::Address;
use crate::job::{Job, JobKind, Outcome, Status};
use crate::reply::{Reply, ReplyFilter};
use crate::surface::{Action, Again, Outgoing, Surface, SurfaceError};
use crate::threads::AnswerThread;
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
    /// Which answers point at the message that began the turn.
    replies: Option<ReplyFilter>,
    /// The answer that is being written, where answers go out in blocks.
    blocks: Option<Blocks>,
    /// How many blocks of it went out.
    block: usize,
    /// Which answer of the turn it is.
    answer: u32,
    /// Whether the thread that the words stand in is still to be opened.
    opens: bool,
    /// Whether anything went out.
    said: bool,
}

impl Delivery {
    pub(super) fn new(inner: Arc<Inner>, job: Arc<Job>, marks: Marks) -> Self {
        let to = job.deliver.as_ref().and_then(|address| {
            let surface = inner.parts.surfaces.get(&address.channel)?;
            let opened = threading::opened_before(&marks);
            Some((
                Arc::clone(surface),
                opened.unwrap_or_else(|| address.clone()),
            ))
        });
        let replies = to.as_ref().map(|(_, to)| inner.reply_filter(to));
        Self {
            replies,
            blocks: None,
            block: 0,
            answer: 0,
            opens: matches!(job.answer_thread, Some(AnswerThread::Open { .. }))
                && to.as_ref().map(|(_, to)| to) == job.deliver.as_ref(),
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
                TurnEvent::TextDelta { delta } if !self.waits_for_the_end() => {
                    self.hear(delta).await;
                    None
                }
                _ => None,
            };
            self.inner
                .tell(&self.job.session_key, &self.job.id, || What::Turn { event });
            if let Some((index, text)) = said.filter(|_| !self.waits_for_the_end()) {
                self.answered(index, &text).await;
            }
        }
    }

    /// Hears some of an answer; blocks of it go out where that is wanted.
    async fn hear(&mut self, delta: &str) {
        let Some((surface, address)) = &self.to else {
            return;
        };
        if self.blocks.is_none() {
            self.blocks = Blocks::begin(&self.inner, &**surface, address);
        }
        let ready = self.blocks.as_mut().map(|blocks| blocks.hear(delta));
        for block in ready.into_iter().flatten() {
            self.send_block(&block).await;
        }
    }

    /// One answer is whole. What of it went out in blocks is not said again.
    async fn answered(&mut self, index: u32, text: &str) {
        self.answer = index + 1;
        let left = self.blocks.take().and_then(Blocks::end);
        let Some(left) = left else {
            return self.say(&index.to_string(), text).await;
        };
        for block in left {
            self.send_block(&block).await;
        }
        self.block = 0;
        // After a crash this answer counts as said, whole.
        let (id, mark) = (self.job.id.clone(), format!("{index}:all"));
        self.inner
            .parts
            .ledger
            .note(vec![Change::Mark { id, mark }]);
    }

    async fn send_block(&mut self, block: &str) {
        // No two blocks of a turn have the same name.
        let part = format!("{}-block-{}", self.answer, self.block);
        self.block += 1;
        self.pieces(&part, block).await;
    }

    /// Tells whether only the last answer is for people: nobody follows a turn that a clock began.
    fn waits_for_the_end(&self) -> bool {
        matches!(self.job.kind, JobKind::Heartbeat | JobKind::Cron)
    }

    /// The turn is over. A person who waits hears when nothing came of it. Returns what was to be said at the end of a turn
    /// that a clock began.
    pub(super) async fn end(&mut self, outcome: &Outcome) -> Option<String> {
        if self.waits_for_the_end() {
            let words = match self.job.kind {
                JobKind::Heartbeat => self.inner.beat_words(&self.job, &outcome.text),
                _ => self.inner.shown(&outcome.text),
            };
            let words = words.filter(|_| outcome.status == Status::Ok)?;
            self.pieces("end", &words).await;
            return Some(words);
        }
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
        None
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

    /// Sends what people see of a text.
    async fn say(&mut self, part: &str, text: &str) {
        if self.marks.contains(&format!("{part}:all")) {
            return;
        }
        if let Some(text) = self.inner.shown(text) {
            self.pieces(part, &text).await;
        }
    }

    /// Sends a text, piece by piece. Pieces that are out already are not sent again.
    async fn pieces(&mut self, part: &str, text: &str) {
        let Some((surface, mut address)) = self.to.clone() else {
            return;
        };
        self.said = true;
        let heard = turns::said(&address, text);
        if self.marks.contains(&heard) || self.inner.was_said(&self.job.session_key, &heard) {
            return;
        }
        if std::mem::take(&mut self.opens) {
            address = self.inner.open_thread(&self.job, &surface, &address).await;
            // What stands in a thread under a message need not point at it.
            self.replies = None;
            self.to = Some((Arc::clone(&surface), address.clone()));
        }
        for (piece, cut) in self
            .inner
            .cut(&*surface, &address, text)
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
                plain: cut.plain.unwrap_or_else(|| cut.body.clone()),
                text: cut.body,
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

    /// Returns the message that the next piece points at.
    fn reply_to(&mut self) -> Option<String> {
        let reply = Reply {
            to: self.job.message_id.as_deref(),
            explicit: false,
            notice: false,
        };
        let filter = self.replies.as_mut()?;
        filter.apply(reply).map(str::to_owned)
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
