//! How jobs ended, kept in the job log for whoever asks later under the same name.

use super::{Job, JobKind, JobOutcome, JobStatus};
use crate::gateway::{Gateway, Inner};
use crate::jobs::log::closing;
use chitin_store::JobChange;
use serde::{Deserialize, Serialize};

/// How much of a reply is kept, in bytes. The transcript has all of it.
const MOST_TEXT: usize = 16 << 10;
/// How many jobs that took over the work of another are followed.
const MOST_HOPS: usize = 8;

/// How a job ended, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredOutcome {
    /// The session.
    pub session_key: String,
    /// The agent.
    pub agent_id: String,
    /// How it ended.
    pub outcome: JobOutcome,
    /// Whether its text was longer than what is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_shortened: bool,
}

/// What became of a job that was taken in before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierJob {
    /// It waits or runs, under this name: that of the job itself, or of the one that does its work.
    Open(String),
    /// It is over.
    Ended(Box<StoredOutcome>),
    /// Nothing is kept of it.
    Unknown,
}

/// What the job log keeps of a job.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
enum Kept {
    /// Another job does its work.
    #[serde(rename_all = "camelCase")]
    Merged { merged_into: String },
    /// It is over.
    Ended(StoredOutcome),
}

/// Says which job did the work of one, by what the job log keeps of it.
pub(crate) fn merged_into(kept: &serde_json::Value) -> Option<&str> {
    kept.get("mergedInto")?.as_str()
}

impl Gateway {
    /// Says what became of a job that was taken in before, as far as that is kept.
    pub async fn earlier(&self, job_id: &str) -> EarlierJob {
        let mut name = job_id.to_owned();
        let mut asked_again = false;
        for _ in 0..MOST_HOPS {
            // Asked in line with what is being written: a job that was told to be over is over here too.
            match self.0.kept(&name).await {
                Some(Kept::Ended(ended)) => return EarlierJob::Ended(Box::new(ended)),
                Some(Kept::Merged { merged_into }) => name = merged_into,
                None if self.is_open(&name) || self.0.is_ending(&name) => {
                    return EarlierJob::Open(name);
                }
                // It may have ended after the log was asked and before the look at what is open.
                None if !asked_again => asked_again = true,
                None => break,
            }
        }
        EarlierJob::Unknown
    }
}

impl Inner {
    /// Tells whether a job is still in the job log: its turn may be over while its reply is on its way.
    fn is_ending(&self, job_id: &str) -> bool {
        let log = &self.parts.ledger;
        log.is_open(job_id) && log.health().failing.is_none()
    }

    async fn kept(&self, job_id: &str) -> Option<Kept> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let now = self.parts.clock.now_ms();
        self.parts.ledger.outcome(job_id, now, move |outcome| {
            let _ = sender.send(outcome);
        });
        serde_json::from_value(receiver.await.ok()??).ok()
    }

    /// Makes the change that ends a job. How a message ended is kept for whoever sends it again.
    pub(crate) fn ending(&self, job: &Job, outcome: &JobOutcome) -> JobChange {
        let is_shortened = outcome.text.len() > MOST_TEXT;
        let mut outcome = outcome.clone();
        let end = outcome.text.floor_char_boundary(MOST_TEXT);
        outcome.text.truncate(end);
        let kept = Kept::Ended(StoredOutcome {
            session_key: job.session_key.clone(),
            agent_id: job.agent_id.clone(),
            outcome,
            is_shortened,
        });
        self.keeping(job, &kept)
    }

    /// Makes the change that ends a job whose work another one does.
    pub(crate) fn merging(&self, job: &Job, into: &str) -> JobChange {
        let merged_into = into.to_owned();
        self.keeping(job, &Kept::Merged { merged_into })
    }

    fn keeping(&self, job: &Job, kept: &Kept) -> JobChange {
        match job.kind {
            JobKind::Message | JobKind::SessionSend => JobChange::End {
                id: job.id.clone(),
                at: self.parts.clock.now_ms(),
                outcome: serde_json::to_value(kept).unwrap_or_default(),
            },
            // Nobody outside knows their names.
            JobKind::Subagent | JobKind::Announce | JobKind::Heartbeat | JobKind::Cron => {
                closing(&job.id)
            }
        }
    }
}

impl JobOutcome {
    /// Makes one of a job that had no turn.
    pub(crate) fn without_turn(status: JobStatus, reason: &str) -> Self {
        Self {
            status,
            text: String::new(),
            error: Some(reason.to_owned()),
            input_tokens: 0,
            output_tokens: 0,
            runtime_ms: 0,
            refused: None,
            origins: Vec::new(),
        }
    }
}
