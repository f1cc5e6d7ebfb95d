//! Asking: a tool of a turn waits until the owner answers, the time is over, or the turn is.

use super::broker::Broker;
use super::listeners::{Answering, anybody};
use super::request::{
    AnswerError, AnsweredBy, ApprovalAnswer, ApprovalOutcome, PendingApproval, ResolvedApproval,
};
use crate::events::{EventKind, Topic};
use crate::gateway::{Gateway, Inner};
use crate::jobs::{Job, JobKind};
use chitin_agent::turn::TurnApprover;
use chitin_tools::{Approval, ApprovalRequest, Approver};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// How many bytes of a diff go out with a question.
const LONGEST_DIFF: usize = 64 << 10;
/// The channel of the page and of programs.
const WEB: &str = "web";

/// What is said where nobody can answer: the end of a sentence.
const NOBODY: &str = "there is nobody to ask: no page of `chitin serve` is open, and no `chitin approvals watch` runs";

/// What is said where the next process of the server has to ask: the end of a sentence.
const RESTARTS: &str = "the server restarts; nothing was done, so call the tool again";

/// How questions for permission are asked.
#[derive(Clone)]
pub struct ApprovalOptions {
    /// How long a question waits before it becomes a refusal.
    pub timeout: Duration,
    /// Takes secrets out of what people are shown.
    pub redact: Arc<dyn Fn(&str) -> String + Send + Sync>,
}

/// Asks the owner for the tools of one turn.
struct JobApprover {
    gateway: Arc<Inner>,
    job: Arc<Job>,
    /// Hears that the turn waits for a person.
    asks: Arc<Notify>,
}

/// A question that is taken back when nobody waits for the answer any more.
struct Asked<'a> {
    gateway: &'a Inner,
    broker: &'a Broker,
    id: &'a str,
}

impl Gateway {
    /// Asks the owner wherever a tool needs permission. Once, before the first message; without it, whoever makes the agents decides.
    pub fn ask_for_approvals(&self, options: ApprovalOptions) {
        let _ = self.0.approvals.set(Broker::new(options));
    }

    /// Says that somebody who hears a topic can answer questions, until what is returned is dropped.
    pub fn answers_approvals(&self, topic: Topic) -> Option<Answering> {
        let broker = self.0.approvals.get()?;
        Some(Answering::new(topic, Arc::clone(&broker.listeners)))
    }

    /// Returns the questions that wait for an answer, the oldest first.
    pub fn pending_approvals(&self) -> Vec<Arc<PendingApproval>> {
        let broker = self.0.approvals.get();
        broker.map(Broker::pending).unwrap_or_default()
    }

    /// Answers a question. The first answer counts.
    pub fn answer_approval(
        &self,
        id: &str,
        answer: ApprovalAnswer,
        why: Option<String>,
        by: AnsweredBy,
    ) -> Result<ResolvedApproval, AnswerError> {
        let Some(broker) = self.0.approvals.get() else {
            return Err(AnswerError::Unknown);
        };
        let now = self.0.parts.clock.now_ms();
        let (request, resolved) = broker.answer(id, answer, why, by, now)?;
        self.0.tell_resolved(&request, &resolved);
        Ok(resolved)
    }
}

impl Inner {
    /// Returns who is asked for permission in a job's turn; nothing where whoever makes the agents decides.
    pub(crate) fn approver_of(
        self: &Arc<Self>,
        job: &Arc<Job>,
        asks: &Arc<Notify>,
    ) -> Option<TurnApprover> {
        self.approvals.get()?;
        Some(TurnApprover(Arc::new(JobApprover {
            gateway: Arc::clone(self),
            job: Arc::clone(job),
            asks: Arc::clone(asks),
        })))
    }

    /// Tells whether somebody listens who can answer the questions of a job.
    pub(crate) fn is_answerable(&self, job: &Job) -> bool {
        let broker = self.approvals.get();
        broker.is_some_and(|broker| anybody(&broker.listeners, &job.session_key, &job.id))
    }

    fn tell_resolved(&self, request: &PendingApproval, resolved: &ResolvedApproval) {
        self.tell(&request.session_key, &request.job_id, || {
            EventKind::ApprovalResolved {
                approval: resolved.clone(),
            }
        });
    }

    fn request(
        &self,
        job: &Job,
        asked: &ApprovalRequest<'_>,
        options: &ApprovalOptions,
    ) -> PendingApproval {
        let now = self.parts.clock.now_ms();
        let shown = |text: &str| (options.redact)(text);
        let diff = asked.diff.map(shown);
        let cut = diff
            .as_deref()
            .is_some_and(|diff| diff.len() > LONGEST_DIFF);
        let diff = diff.map(|diff| diff[..diff.floor_char_boundary(LONGEST_DIFF)].to_owned());
        let exact = asked
            .pattern
            .and_then(|pattern| pattern.strip_prefix('='))
            .is_some();
        let pattern = asked
            .pattern
            .map(|pattern| shown(pattern.strip_prefix('=').unwrap_or(pattern)));
        let wait = i64::try_from(options.timeout.as_millis()).unwrap_or(i64::MAX);
        PendingApproval {
            id: self.parts.clock.unique(),
            agent_id: job.agent_id.clone(),
            session_key: job.session_key.clone(),
            job_id: job.id.clone(),
            tool: asked.tool.to_owned(),
            what: shown(asked.what),
            why: shown(asked.why),
            diff,
            diff_truncated: cut,
            pattern,
            exact,
            asked_at: now,
            expires_at: now.saturating_add(wait),
        }
    }
}

impl JobApprover {
    fn anybody(&self) -> bool {
        self.gateway.is_answerable(&self.job)
    }

    /// Asks, and waits.
    async fn wait_for(&self, asked: &ApprovalRequest<'_>) -> Approval {
        let (gateway, job) = (&self.gateway, &self.job);
        if gateway.turnstile.has_left() {
            return Approval::Nobody(Some(RESTARTS.to_owned()));
        }
        let Some(broker) = gateway.approvals.get().filter(|_| self.anybody()) else {
            return Approval::Nobody(Some(NOBODY.to_owned()));
        };
        let request = gateway.request(job, asked, &broker.options);
        let (request, mut answer) = match broker.add(request) {
            Ok(added) => added,
            Err(why) => return Approval::Nobody(Some(why)),
        };
        let question = Asked {
            gateway,
            broker,
            id: &request.id,
        };
        gateway.tell(&job.session_key, &job.id, || EventKind::ApprovalRequested {
            approval: Box::new((*request).clone()),
        });
        self.asks.notify_one();
        let timeout = broker.options.timeout;
        tokio::select! {
            biased;
            answer = &mut answer => return answer.unwrap_or(Approval::Denied(None)),
            () = tokio::time::sleep(timeout) => {}
            () = gateway.turnstile.left() => {
                if question.end(ApprovalOutcome::Withdrawn) {
                    return Approval::Nobody(Some(RESTARTS.to_owned()));
                }
            }
        }
        if question.end(ApprovalOutcome::Expired) {
            let seconds = timeout.as_secs();
            return Approval::Nobody(Some(format!("nobody answered within {seconds} s")));
        }
        // An answer came at the same moment.
        answer.await.unwrap_or(Approval::Denied(None))
    }
}

impl Approver for JobApprover {
    fn is_there(&self) -> bool {
        let job = &self.job;
        let is_own = job.kind == JobKind::Message
            && job.sender.as_ref().is_none_or(|sender| sender.is_owner)
            && job.from.as_ref().is_none_or(|from| from.channel == WEB);
        // Who listened when the message came may be away for a moment, after a restart for one: then it is refused, not done unasked.
        is_own && (job.is_answerable || self.anybody())
    }

    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        async move { self.wait_for(&request).await }.boxed()
    }
}

impl Asked<'_> {
    /// Takes the question back; tells whether nobody had answered it.
    fn end(&self, outcome: ApprovalOutcome) -> bool {
        let now = self.gateway.parts.clock.now_ms();
        let ended = self.broker.end(self.id, outcome, now);
        if let Some((request, resolved)) = &ended {
            self.gateway.tell_resolved(request, resolved);
        }
        ended.is_some()
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.end(ApprovalOutcome::Withdrawn);
    }
}
