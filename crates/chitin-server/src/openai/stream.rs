//! An answer piece by piece, in OpenAI's shape.

use super::complete::StopWhenGone;
use super::reply::{BETWEEN, Heading, Heard, well};
use crate::compat;
use crate::feed::{comment, frame};
use crate::follow::{self, End};
use crate::phase::Phase;
use crate::problem::{Face, Problem};
use crate::shared::Shared;
use bytes::Bytes;
use chitin_gateway::gateway::What;
use chitin_gateway::silent::SilentGate;
use chitin_gateway::{Heard as Told, Subscription};
use chitin_protocol::event::TurnEvent;
use chitin_protocol::rules::OutboundRules;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
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
    rules: OutboundRules,
    /// Holds back what may mean "say nothing", while an answer comes in pieces.
    gate: Option<SilentGate>,
    /// Whether some of the answer that is being given is out.
    begun: bool,
    /// Whether an answer of this turn is out already.
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
            rules,
            gate: None,
            begun: false,
            said: false,
            ready: VecDeque::new(),
            over: false,
            guard,
            _room: room,
        };
        pieces.put(&json!({"role": "assistant", "content": ""}), None);
        pieces
    }

    /// Waits for the first word, or for the end. Fails when the end comes first and is a bad one.
    pub(super) async fn prepare(&mut self) -> Result<(), Problem> {
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
                return Some(frame(None, "", &problem.body(Face::OpenAi)));
            }
        }
    }

    /// Makes pieces of what was told.
    fn take(&mut self, told: &Told) -> Result<(), Problem> {
        let Told::Happening(happening) = told else {
            return Ok(());
        };
        self.heard.note(&happening.what);
        match &happening.what {
            What::Turn {
                event: TurnEvent::TextDelta { delta },
            } => {
                let rules = self.rules;
                let gate = self.gate.get_or_insert_with(|| SilentGate::new(rules));
                let shown = gate.push(delta);
                self.say(&shown);
            }
            What::Turn {
                event: TurnEvent::Said { text, .. },
            } => {
                // A model that gives its answer in one go has no pieces.
                let rest = match self.gate.take() {
                    Some(gate) => gate.finish().rest,
                    None => self.heard.shown(text).unwrap_or_default(),
                };
                self.say(&rest);
                self.said |= self.begun;
                self.begun = false;
            }
            what => {
                if let Some(end) = End::of(what) {
                    self.over = true;
                    self.guard.done();
                    self.finish(end)?;
                }
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.begun && self.said {
            self.put(&json!({ "content": BETWEEN }), None);
        }
        self.begun = true;
        self.put(&json!({ "content": text }), None);
    }

    fn finish(&mut self, end: End) -> Result<(), Problem> {
        let outcome = well(end)?;
        if !self.begun && !self.said {
            // What was said may have been missed.
            let text = self.heard.text(&outcome);
            self.say(&text);
        }
        let reason = self.heard.finish_reason();
        self.put(&json!({}), Some(reason));
        if self.include_usage {
            let usage = self.heading.count(&self.heard.usage(&outcome));
            self.ready.push_back(frame(None, "", &usage));
        }
        let done = format!("data: {}\n\n", compat::DONE);
        self.ready.push_back(done.into());
        Ok(())
    }

    fn put(&mut self, delta: &Value, finish_reason: Option<&str>) {
        let mut piece = self.heading.piece(delta, finish_reason);
        if self.include_usage {
            piece["usage"] = Value::Null;
        }
        self.ready.push_back(frame(None, "", &piece));
    }
}
