//! Server-sent events.

use crate::attached::RedactValue;
use crate::follow::End;
use crate::phase::Phase;
use crate::shared::Shared;
use bytes::Bytes;
use chitin_gateway::approvals::Answering;
use chitin_gateway::events::{EventKind, GatewayEvent};
use chitin_gateway::{Accepted, JobOutcome, ListenerEvent, Subscription};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};

/// The data of a server-sent event, by the event's name: `missed`, `draining`, `closing`, or one of the gateway's.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StreamEvent<'a> {
    /// Something happened.
    Gateway(&'a GatewayEvent),
    /// A job had finished before its message was sent again.
    FinishedBefore(FinishedBefore),
    /// The client was too slow and lost events.
    Missed(MissedEvents),
    /// The server is shutting down.
    Ending(Ending),
}

/// A job that had finished before its message was sent again.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FinishedBefore {
    /// The session.
    session_key: String,
    /// The job.
    job_id: String,
    /// Always `finished`.
    kind: &'static str,
    /// How its turn ended.
    outcome: JobOutcome,
}

impl FinishedBefore {
    pub(crate) fn new(accepted: Accepted, outcome: JobOutcome) -> Self {
        Self {
            session_key: accepted.session_key,
            job_id: accepted.job_id,
            kind: "finished",
            outcome,
        }
    }
}

/// The client was too slow and lost events.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MissedEvents {
    /// How many.
    pub(crate) count: u64,
}

/// The server is shutting down.
#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Ending {}

/// Makes one event.
pub(crate) fn frame(id: Option<u64>, event: &str, data: &impl Serialize) -> Bytes {
    let mut text = String::new();
    if let Some(id) = id {
        let _ = writeln!(text, "id: {id}");
    }
    if !event.is_empty() {
        let _ = writeln!(text, "event: {event}");
    }
    // JSON has no line breaks of its own.
    let data = serde_json::to_string(data).unwrap_or_default();
    let _ = write!(text, "data: {data}\n\n");
    text.into()
}

/// A comment, which only says that the server is there.
pub(crate) fn comment() -> Bytes {
    Bytes::from_static(b": here\n\n")
}

/// When a stream of happenings ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// With the job that it is about.
    JobEnds,
    /// With the server.
    ServerEnds,
}

/// Happenings on their way to one client. They are made when the client takes them: a slow one costs nothing, and misses
/// some.
pub(crate) struct Feed {
    subscription: Subscription,
    phase: watch::Receiver<Phase>,
    keep_alive: Duration,
    until: Until,
    ready: VecDeque<Bytes>,
    over: bool,
    redact: Option<Arc<RedactValue>>,
    /// Whether the client can answer questions for permission, for as long as it listens.
    _answering: Option<Answering>,
    _room: OwnedSemaphorePermit,
}

impl Feed {
    pub(crate) fn new(
        shared: &Shared,
        subscription: Subscription,
        until: Until,
        room: OwnedSemaphorePermit,
    ) -> Self {
        let mut phase = shared.phase.clone();
        phase.mark_unchanged();
        Self {
            subscription,
            phase,
            keep_alive: shared.limits.keep_alive,
            until,
            // Sent at once, so that the client knows that it is heard.
            ready: VecDeque::from([comment()]),
            over: false,
            redact: shared.attached.redact.clone(),
            _answering: None,
            _room: room,
        }
    }

    /// Says that its client can answer questions for permission.
    pub(crate) fn answering(self, answering: Option<Answering>) -> Self {
        Self {
            _answering: answering,
            ..self
        }
    }

    pub(crate) fn stream(self) -> BoxStream<'static, Bytes> {
        let next = |mut feed: Self| async move {
            let event = feed.next().await?;
            Some((event, feed))
        };
        stream::unfold(self, next).boxed()
    }

    async fn next(&mut self) -> Option<Bytes> {
        if let Some(ready) = self.ready.pop_front() {
            return Some(ready);
        }
        if self.over {
            return None;
        }
        tokio::select! {
            // What happened goes before the news that nothing more will.
            biased;
            heard = self.subscription.next() => heard.map(|heard| self.told(&heard)),
            changed = self.phase.changed() => {
                let phase = *self.phase.borrow_and_update();
                match phase {
                    _ if changed.is_err() => None,
                    Phase::Open => Some(comment()),
                    // Its turn is told of here to its end; everything else the next process tells.
                    Phase::Moved if self.until == Until::JobEnds => Some(comment()),
                    Phase::Moved => {
                        self.over = true;
                        self.ready.push_back(frame(None, "closing", &StreamEvent::Ending(Ending {})));
                        Some(frame(None, "draining", &StreamEvent::Ending(Ending {})))
                    }
                    Phase::Draining => Some(frame(None, "draining", &StreamEvent::Ending(Ending {}))),
                    Phase::Closed => {
                        self.over = true;
                        Some(frame(None, "closing", &StreamEvent::Ending(Ending {})))
                    }
                }
            }
            () = tokio::time::sleep(self.keep_alive) => Some(comment()),
        }
    }

    fn told(&mut self, heard: &ListenerEvent) -> Bytes {
        match heard {
            ListenerEvent::Happening(happening) => {
                let ends = End::of(&happening.what).is_some();
                self.over = ends && self.until == Until::JobEnds;
                let mut event =
                    serde_json::to_value(StreamEvent::Gateway(happening)).unwrap_or_default();
                if let Some(redact) = &self.redact {
                    redact(&mut event);
                }
                frame(Some(happening.seq), kind(&happening.what), &event)
            }
            ListenerEvent::Missed(count) => {
                let missed = MissedEvents { count: *count };
                frame(None, "missed", &StreamEvent::Missed(missed))
            }
        }
    }
}

/// Returns the name of the event, as it also stands in its data.
pub(crate) fn kind(what: &EventKind) -> &'static str {
    match what {
        EventKind::Accepted { .. } => "accepted",
        EventKind::Turn { .. } => "turn",
        EventKind::Delivered { .. } => "delivered",
        EventKind::NotDelivered { .. } => "not-delivered",
        EventKind::Merged { .. } => "merged",
        EventKind::Dropped { .. } => "dropped",
        EventKind::Spawned { .. } => "spawned",
        EventKind::ApprovalRequested { .. } => "approval-requested",
        EventKind::ApprovalResolved { .. } => "approval-resolved",
        EventKind::Delayed { .. } => "delayed",
        EventKind::Finished { .. } => "finished",
    }
}
