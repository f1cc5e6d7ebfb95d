//! An answer piece by piece, in OpenAI's shape.

use super::complete::StopWhenGone;
use super::reply::{ChunkUsage, CompletionDelta, FinishReason, Heading, Heard, well};
use super::telling::Telling;
use crate::compat;
use crate::error::{ApiError, ErrorFormat};
use crate::feed::{comment, frame};
use crate::follow::{self, End};
use crate::phase::Phase;
use crate::shared::Shared;
use bytes::Bytes;
use chitin_gateway::events::EventKind;
use chitin_gateway::{ListenerEvent as Told, Subscription};
use chitin_protocol::event::TurnEvent;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use hyper::StatusCode;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};

/// An answer on its way to one client.
pub(crate) struct Pieces {
    subscription: Subscription,
    phase: watch::Receiver<Phase>,
    keep_alive: Duration,
    heading: Heading,
    include_usage: bool,
    heard: Heard,
    telling: Telling,
    /// Whether anything was said.
    said: bool,
    ready: VecDeque<Bytes>,
    over: bool,
    guard: StopWhenGone,
    _room: OwnedSemaphorePermit,
}

impl Pieces {
    pub(super) fn new(
        shared: &Shared,
        subscription: Subscription,
        heading: Heading,
        include_usage: bool,
        guard: StopWhenGone,
        room: OwnedSemaphorePermit,
    ) -> Self {
        let rules = shared.gateway.parts().contract.runtime.outbound;
        let mut pieces = Self {
            subscription,
            phase: shared.phase.clone(),
            keep_alive: shared.limits.keep_alive,
            heading,
            include_usage,
            heard: Heard::new(rules),
            telling: Telling::new(rules),
            said: false,
            ready: VecDeque::new(),
            over: false,
            guard,
            _room: room,
        };
        let first = CompletionDelta {
            role: Some("assistant"),
            content: Some(String::new()),
        };
        pieces.put(first, None);
        pieces
    }

    /// Waits for the first word, or for the end. Fails when the end comes first and is a bad one.
    pub(super) async fn prepare(&mut self) -> Result<(), ApiError> {
        let begins = self.ready.len();
        while self.ready.len() == begins && !self.over {
            let told = follow::next(&mut self.subscription, &mut self.phase).await?;
            self.take(&told)?;
        }
        Ok(())
    }

    pub(super) fn stream(self) -> BoxStream<'static, Bytes> {
        let next = |mut pieces: Self| async move {
            let piece = pieces.next().await?;
            Some((piece, pieces))
        };
        stream::unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            if self.over {
                return None;
            }
            let told = follow::next(&mut self.subscription, &mut self.phase);
            let taken = match tokio::time::timeout(self.keep_alive, told).await {
                Ok(Ok(told)) => self.take(&told),
                Ok(Err(problem)) => Err(problem),
                Err(_) => return Some(comment()),
            };
            if let Err(problem) = taken {
                self.over = true;
                return Some(frame(None, "", &problem.body(ErrorFormat::OpenAi)));
            }
        }
    }

    /// Makes pieces of what was told.
    fn take(&mut self, told: &Told) -> Result<(), ApiError> {
        let what = match told {
            Told::Happening(happening) => &happening.what,
            Told::Missed(_) => {
                self.telling.missed();
                return Ok(());
            }
        };
        self.heard.note(what);
        let text = match what {
            EventKind::Turn {
                event: TurnEvent::TextDelta { delta },
            } => self.telling.piece(delta),
            EventKind::Turn {
                event: TurnEvent::Said { text, .. },
            } => self.telling.whole(text),
            EventKind::Turn {
                event: TurnEvent::Retrying { .. },
            } => {
                self.telling.missed();
                String::new()
            }
            _ => String::new(),
        };
        self.say(&text);
        match End::of(what) {
            None => Ok(()),
            Some(end) => {
                self.over = true;
                self.guard.done();
                self.finish(end)
            }
        }
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.said = true;
            let delta = CompletionDelta {
                role: None,
                content: Some(text.to_owned()),
            };
            self.put(delta, None);
        }
    }

    fn finish(&mut self, end: End) -> Result<(), ApiError> {
        let outcome = well(end)?;
        if !self.said {
            // A turn that was over before it was asked for again says nothing on the way.
            let text = self.heard.text(&outcome);
            self.say(&text);
        } else if self.telling.is_broken() {
            return Err(ApiError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "missed",
                "The client was too slow, and some of the answer is lost to it.",
            ));
        }
        let reason = self.heard.finish_reason();
        self.put(CompletionDelta::default(), Some(reason));
        if self.include_usage {
            let usage = self.heading.count(self.heard.usage(&outcome));
            self.ready.push_back(frame(None, "", &usage));
        }
        let done = format!("data: {}\n\n", compat::DONE);
        self.ready.push_back(done.into());
        Ok(())
    }

    fn put(&mut self, delta: CompletionDelta, finish_reason: Option<FinishReason>) {
        let mut piece = self.heading.piece(delta, finish_reason);
        if self.include_usage {
            piece.usage = ChunkUsage::Later;
        }
        self.ready.push_back(frame(None, "", &piece));
    }
}
