//! How jobs end in the successor, for those who wait for them in the predecessor.

use crate::events::{EventKind, ListenerEvent, Subscription, Topic};
use crate::gateway::Gateway;
use crate::jobs::JobOutcome;
use serde::{Deserialize, Serialize};

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnd {
    /// The session.
    pub session_key: String,
    /// The job.
    pub job_id: String,
    /// How.
    pub how: HowItEnded,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HowItEnded {
    /// Its turn is over.
    Finished(Box<JobOutcome>),
    /// It was let go.
    Dropped(String),
    /// Another job does its work.
    Merged(String),
}

/// How jobs end, one after the other.
#[derive(Debug)]
pub struct JobEnds(Subscription);

impl JobEnds {
    /// Waits for the next one; nothing comes when the gateway is gone. Who is too slow misses some.
    pub async fn next(&mut self) -> Option<JobEnd> {
        loop {
            let ListenerEvent::Happening(happening) = self.0.next().await? else {
                continue;
            };
            let how = match &happening.what {
                EventKind::Finished { outcome } => HowItEnded::Finished(Box::new(outcome.clone())),
                EventKind::Dropped { reason } => HowItEnded::Dropped(reason.clone()),
                EventKind::Merged { into } => HowItEnded::Merged(into.clone()),
                EventKind::Accepted { .. }
                | EventKind::Turn { .. }
                | EventKind::Delivered { .. }
                | EventKind::NotDelivered { .. }
                | EventKind::Delayed { .. }
                | EventKind::Spawned { .. }
                | EventKind::ApprovalRequested { .. }
                | EventKind::ApprovalResolved { .. } => continue,
            };
            return Some(JobEnd {
                session_key: happening.session_key.clone(),
                job_id: happening.job_id.clone(),
                how,
            });
        }
    }
}

impl Gateway {
    /// Listens to how jobs end.
    pub fn job_ends(&self) -> JobEnds {
        JobEnds(self.subscribe(Topic::All))
    }

    /// Tells those who wait here how a job ended in the successor.
    pub fn ended_elsewhere(&self, end: JobEnd) {
        let (inner, key, job) = (&self.0, &end.session_key, &end.job_id);
        match end.how {
            HowItEnded::Finished(outcome) => {
                let outcome = *outcome;
                inner.tell(key, job, || EventKind::Finished { outcome });
                inner.hub.forget(job);
            }
            HowItEnded::Dropped(reason) => inner.tell(key, job, || EventKind::Dropped { reason }),
            HowItEnded::Merged(into) => {
                inner.tell(key, job, || EventKind::Merged { into: into.clone() });
                inner.hub.follow(job, &into);
            }
        }
    }
}
