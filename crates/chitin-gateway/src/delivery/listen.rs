//! A delivery at work: what it hears of a turn, and when it shows something.
//!
//! Two things run beside each other: one tells the events of the turn to whoever listens, the other speaks. So nobody waits for a
//! surface that is slow, and what a surface is shown is the latest when it is ready for it.

use super::deliver::{Delivery, Writing};
use crate::events::EventKind;
use crate::jobs::RefusedOutcome;
use crate::surface::SurfaceAction;
use chitin_protocol::event::{RefusedPart, TurnEvent};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often it is shown that somebody types: networks forget it after about ten seconds.
const TYPING_EVERY: Duration = Duration::from_secs(8);

/// What whoever speaks hears of a turn.
enum Heard {
    Began,
    Delta(String),
    Said { index: u32, text: String },
    Refused { key: String, text: String },
    Step(String),
}

impl Delivery {
    /// Tells the events of a turn, and sends what is said in it. Is done when both are.
    pub(crate) async fn listen(&mut self, mut events: mpsc::Receiver<TurnEvent>) {
        // No larger than what the turn says.
        let (tell, heard) = mpsc::unbounded_channel();
        let (inner, job) = (Arc::clone(&self.inner), Arc::clone(&self.job));
        let reacted = self.reacted();
        let speaks = self.to.is_some() && !self.waits_for_the_end();
        let listening = async move {
            let mut refusals = Vec::new();
            while let Some(event) = events.recv().await {
                if matches!(
                    event,
                    TurnEvent::TextDelta { .. }
                        | TurnEvent::ThinkingDelta { .. }
                        | TurnEvent::ToolStarted { .. }
                        | TurnEvent::Said { .. }
                ) {
                    reacted.store(true, Ordering::Relaxed);
                }
                if let TurnEvent::Refused {
                    part: part @ RefusedPart::Message,
                    by,
                    text,
                    key: Some(key),
                } = &event
                {
                    let (part, by) = (*part, by.clone());
                    refusals.push((key.clone(), RefusedOutcome { part, by }, text.clone()));
                }
                if let TurnEvent::Note { text } = &event {
                    inner.log_note(&job, text);
                }
                let news = match &event {
                    TurnEvent::TurnStarted { .. } => Some(Heard::Began),
                    TurnEvent::TextDelta { delta } if speaks => Some(Heard::Delta(delta.clone())),
                    TurnEvent::Said { index, text } if speaks => Some(Heard::Said {
                        index: *index,
                        text: text.clone(),
                    }),
                    TurnEvent::Refused {
                        part: RefusedPart::Message,
                        text,
                        key,
                        ..
                    } if speaks => Some(Heard::Refused {
                        key: key.clone().unwrap_or_default(),
                        text: text.clone(),
                    }),
                    TurnEvent::ToolStarted { name, .. } if speaks => {
                        Some(Heard::Step(name.clone()))
                    }
                    _ => None,
                };
                inner.tell(&job.session_key, &job.id, || EventKind::Turn { event });
                if let Some(news) = news {
                    let _ = tell.send(news);
                }
            }
            refusals
        };
        let (refusals, ()) = tokio::join!(listening, self.speak(heard));
        self.refusals = refusals;
    }

    /// Says what is heard, and shows what is written when it is time for it.
    async fn speak(&mut self, mut heard: mpsc::UnboundedReceiver<Heard>) {
        loop {
            let due = self.due();
            // All that came meanwhile goes first, so that the latest is shown.
            let news = tokio::select! {
                biased;
                news = heard.recv() => news,
                () = until(due) => {
                    self.refresh().await;
                    continue;
                }
            };
            match news {
                Some(Heard::Began) => self.refresh_typing(),
                Some(Heard::Delta(delta)) => self.hear(&delta).await,
                Some(Heard::Said { index, text }) => self.answered(index, &text).await,
                Some(Heard::Refused { key, text }) => self.refused(&key, &text).await,
                Some(Heard::Step(name)) => self.step(&name),
                None => return,
            }
        }
    }

    /// Says when something is to be shown.
    fn due(&self) -> Option<Instant> {
        let (live, is_out) = match &self.writing {
            Writing::Live(live) | Writing::Progress(live, _) => {
                (live.due().map(|due| self.began + due), live.is_out())
            }
            Writing::Blocks(blocks) => (blocks.due().map(|due| self.began + due), false),
            Writing::Unheard | Writing::Whole => (None, false),
        };
        let typing = self.typing.filter(|_| !is_out);
        [live, typing].into_iter().flatten().min()
    }

    /// Shows what is due.
    async fn refresh(&mut self) {
        let now = Instant::now();
        if self.typing.is_some_and(|due| due <= now) {
            self.refresh_typing();
        }
        let part = self.answer.to_string();
        let began = self.began;
        let is_due = |due: Option<Duration>| due.is_some_and(|due| began + due <= now);
        match std::mem::take(&mut self.writing) {
            Writing::Live(mut live) => {
                if is_due(live.due()) {
                    self.show(&part, &mut live).await;
                }
                self.writing = Writing::Live(live);
            }
            Writing::Progress(mut live, steps) => {
                if is_due(live.due()) {
                    self.show(&part, &mut live).await;
                }
                self.writing = Writing::Progress(live, steps);
            }
            Writing::Blocks(mut blocks) => {
                let waited = is_due(blocks.due()).then(|| blocks.take()).flatten();
                self.writing = Writing::Blocks(blocks);
                if let Some(block) = waited {
                    self.send_block(&block).await;
                }
            }
            other @ (Writing::Unheard | Writing::Whole) => self.writing = other,
        }
    }

    /// Shows that somebody types, where that can be seen; nobody waits for it.
    fn refresh_typing(&mut self) {
        let Some((surface, address)) = &self.to else {
            return;
        };
        if !surface.capabilities().typing {
            return;
        }
        let again = !self.waits_for_the_end();
        self.typing = again.then(|| Instant::now() + TYPING_EVERY);
        let (surface, address) = (Arc::clone(surface), address.clone());
        self.inner.tasks.spawn(async move {
            let typing = surface.act(&address, &SurfaceAction::Typing);
            let _ = tokio::time::timeout(Duration::from_secs(5), typing).await;
        });
    }

    /// Returns how long this delivery is at work.
    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
