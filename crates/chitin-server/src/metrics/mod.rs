//! Numbers for those who watch: counted as things happen.

mod sheet;

pub(crate) use sheet::answer;

use crate::route::Route;
use crate::shared::Shared;
use chitin_gateway::events::EventKind;
use chitin_gateway::{JobOutcome, JobStatus, ListenerEvent, Subscription};
use hyper::StatusCode;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The statuses that are told apart; all others are counted together.
const CODES: [u16; 24] = [
    101, 200, 202, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 415, 426, 429, 431, 500, 501,
    502, 503, 504, 201, 204,
];
/// How long turns take, in seconds: the bounds that are counted.
const SECONDS: [u64; 11] = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800];
/// How many networks are told apart.
const MOST_CHANNELS: usize = 64;

/// Which endpoint a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(usize);

/// The names of the endpoints: those of the operations, and a few more.
const ROUTES: [&str; 26] = [
    "none", "page", "health", "ready", "metrics", "login", "status", "agents", "agent", "route",
    "channels", "pairing", "messages", "events", "socket", "sessions", "session", "context",
    "turns", "lens", "preview", "stop", "traces", "openai", "webhook", "openapi",
];

impl Label {
    /// Nothing has this path, or not with this method.
    pub(crate) const NONE: Self = Self(0);

    /// Names an endpoint.
    pub(crate) fn of(route: &Route) -> Self {
        let name = match route {
            Route::Page(_) => "page",
            Route::Operation(operation, _) => operation.label,
            Route::Webhook(_) => "webhook",
        };
        let at = ROUTES.iter().position(|route| *route == name);
        at.map_or(Self::NONE, Self)
    }
}

/// What is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    requests: Vec<AtomicU64>,
    accepted: AtomicU64,
    finished: [AtomicU64; STATUSES.len()],
    dropped: AtomicU64,
    spawned: AtomicU64,
    turns: [AtomicU64; SECONDS.len() + 1],
    turn_ms: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    missed: AtomicU64,
    deliveries: Mutex<BTreeMap<(String, &'static str), u64>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = ROUTES.len() * (CODES.len() + 1);
        Self {
            requests: (0..requests).map(|_| AtomicU64::default()).collect(),
            accepted: AtomicU64::default(),
            finished: Default::default(),
            dropped: AtomicU64::default(),
            spawned: AtomicU64::default(),
            turns: Default::default(),
            turn_ms: AtomicU64::default(),
            input_tokens: AtomicU64::default(),
            output_tokens: AtomicU64::default(),
            missed: AtomicU64::default(),
            deliveries: Mutex::default(),
        }
    }
}

/// Counts what happens until the gateway is gone.
pub(crate) async fn count(shared: Arc<Shared>, mut subscription: Subscription) {
    while let Some(heard) = subscription.next().await {
        match heard {
            ListenerEvent::Happening(happening) => shared.metrics.happened(&happening.what),
            ListenerEvent::Missed(count) => add(&shared.metrics.missed, count),
        }
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

const STATUSES: [(JobStatus, &str); 5] = [
    (JobStatus::Ok, "ok"),
    (JobStatus::TimedOut, "timedOut"),
    (JobStatus::Stopped, "stopped"),
    (JobStatus::Failed, "failed"),
    (JobStatus::Dropped, "dropped"),
];

impl Metrics {
    /// Counts an answer.
    pub(crate) fn answered(&self, label: Label, status: StatusCode) {
        let code = CODES.iter().position(|code| *code == status.as_u16());
        let at = label.0 * (CODES.len() + 1) + code.unwrap_or(CODES.len());
        if let Some(counter) = self.requests.get(at) {
            add(counter, 1);
        }
    }

    fn happened(&self, what: &EventKind) {
        match what {
            EventKind::Accepted { .. } => add(&self.accepted, 1),
            EventKind::Finished { outcome } => self.finished(outcome),
            EventKind::Dropped { .. } => add(&self.dropped, 1),
            EventKind::Spawned { .. } => add(&self.spawned, 1),
            EventKind::Delivered { to, .. } => self.delivery(to, "delivered"),
            EventKind::NotDelivered { to, .. } => self.delivery(to, "failed"),
            EventKind::Turn { .. }
            | EventKind::Merged { .. }
            | EventKind::Delayed { .. }
            | EventKind::ApprovalRequested { .. }
            | EventKind::ApprovalResolved { .. } => {}
        }
    }

    fn finished(&self, outcome: &JobOutcome) {
        let status = STATUSES.iter().position(|(one, _)| *one == outcome.status);
        if let Some(status) = status {
            add(&self.finished[status], 1);
        }
        add(&self.input_tokens, outcome.input_tokens);
        add(&self.output_tokens, outcome.output_tokens);
        let bucket = SECONDS
            .iter()
            .position(|bound| outcome.runtime_ms <= bound * 1000);
        add(&self.turns[bucket.unwrap_or(SECONDS.len())], 1);
        add(&self.turn_ms, outcome.runtime_ms);
    }

    fn delivery(&self, to: &str, outcome: &'static str) {
        let channel = to.split(':').next().unwrap_or_default();
        let mut deliveries = self
            .deliveries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let full = deliveries.len() >= 2 * MOST_CHANNELS;
        let known = deliveries.contains_key(&(channel.to_owned(), outcome));
        let channel = if full && !known { "other" } else { channel };
        *deliveries.entry((channel.to_owned(), outcome)).or_default() += 1;
    }
}
