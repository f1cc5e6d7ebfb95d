//! The questions that wait for an answer, and those that were answered lately.

use super::request::{
    AnswerError, AnsweredBy, ApprovalAnswer, ApprovalOutcome, PendingApproval, ResolvedApproval,
};
use super::{ApprovalOptions, listeners::Listeners};
use chitin_tools::Approval;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// How many questions may wait at once.
pub const MOST: usize = 64;
/// How many of one session may.
pub const MOST_OF_SESSION: usize = 8;
/// How many answered questions are remembered, to tell who comes too late.
const MOST_RESOLVED: usize = 512;

/// The questions of a gateway.
pub(crate) struct Broker {
    pub(super) options: ApprovalOptions,
    pub(super) listeners: Arc<Mutex<Listeners>>,
    questions: Mutex<Questions>,
}

#[derive(Default)]
struct Questions {
    /// In the order in which they were asked.
    waiting: BTreeMap<u64, Waiting>,
    asked: u64,
    resolved: VecDeque<ResolvedApproval>,
}

struct Waiting {
    request: Arc<PendingApproval>,
    answer: oneshot::Sender<Approval>,
}

impl std::fmt::Debug for Broker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").finish_non_exhaustive()
    }
}

impl Broker {
    pub(crate) fn new(options: ApprovalOptions) -> Self {
        Self {
            options,
            listeners: Arc::default(),
            questions: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Questions> {
        self.questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a question in, or says why there is no room.
    pub(super) fn add(
        &self,
        request: PendingApproval,
    ) -> Result<(Arc<PendingApproval>, oneshot::Receiver<Approval>), String> {
        let mut questions = self.lock();
        let of_session = questions
            .waiting
            .values()
            .filter(|one| one.request.session_key == request.session_key);
        if of_session.count() >= MOST_OF_SESSION {
            return Err(format!(
                "{MOST_OF_SESSION} questions of this session wait for an answer already"
            ));
        }
        if questions.waiting.len() >= MOST {
            return Err(format!("{MOST} questions wait for an answer already"));
        }
        let (answer, receiver) = oneshot::channel();
        let request = Arc::new(request);
        questions.asked += 1;
        let number = questions.asked;
        questions.waiting.insert(
            number,
            Waiting {
                request: Arc::clone(&request),
                answer,
            },
        );
        Ok((request, receiver))
    }

    /// Returns the questions that wait, the oldest first.
    pub(super) fn pending(&self) -> Vec<Arc<PendingApproval>> {
        let questions = self.lock();
        let waiting = questions.waiting.values();
        waiting.map(|one| Arc::clone(&one.request)).collect()
    }

    /// Gives an answer to whoever waits for it. It counts once.
    pub(super) fn answer(
        &self,
        id: &str,
        answer: ApprovalAnswer,
        why: Option<String>,
        by: AnsweredBy,
        now_ms: i64,
    ) -> Result<(Arc<PendingApproval>, ResolvedApproval), AnswerError> {
        let mut questions = self.lock();
        let Some(number) = questions.number_of(id) else {
            return Err(questions.over(id));
        };
        let lasts = matches!(answer, ApprovalAnswer::Session | ApprovalAnswer::Always);
        let only_once = questions
            .waiting
            .get(&number)
            .is_some_and(|one| one.request.pattern.is_none());
        if lasts && only_once {
            return Err(AnswerError::OnlyOnce);
        }
        let Some(waiting) = questions.waiting.remove(&number) else {
            return Err(AnswerError::Unknown);
        };
        let why = why.filter(|_| answer == ApprovalAnswer::No);
        let is_heard = waiting.answer.send(answer.approval(why.clone())).is_ok();
        let resolved = ResolvedApproval {
            id: id.to_owned(),
            outcome: if is_heard {
                answer.outcome()
            } else {
                ApprovalOutcome::Withdrawn
            },
            why: why.filter(|_| is_heard),
            by: Some(by).filter(|_| is_heard),
            at: now_ms,
        };
        questions.remember(resolved.clone());
        if is_heard {
            Ok((waiting.request, resolved))
        } else {
            Err(AnswerError::Over(resolved))
        }
    }

    /// Takes a question back that nobody answered; nothing if somebody did.
    pub(super) fn end(
        &self,
        id: &str,
        outcome: ApprovalOutcome,
        now_ms: i64,
    ) -> Option<(Arc<PendingApproval>, ResolvedApproval)> {
        let mut questions = self.lock();
        let number = questions.number_of(id)?;
        let waiting = questions.waiting.remove(&number)?;
        let resolved = ResolvedApproval {
            id: id.to_owned(),
            outcome,
            why: None,
            by: None,
            at: now_ms,
        };
        questions.remember(resolved.clone());
        Some((waiting.request, resolved))
    }
}

impl Questions {
    fn number_of(&self, id: &str) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        let found = waiting.find(|(_, one)| one.request.id == id);
        found.map(|(number, _)| *number)
    }

    fn remember(&mut self, resolved: ResolvedApproval) {
        self.resolved.push_back(resolved);
        if self.resolved.len() > MOST_RESOLVED {
            self.resolved.pop_front();
        }
    }

    /// Says why a question that does not wait cannot be answered.
    fn over(&self, id: &str) -> AnswerError {
        match self.resolved.iter().find(|one| one.id == id) {
            None => AnswerError::Unknown,
            Some(one) => match one.outcome {
                ApprovalOutcome::Expired | ApprovalOutcome::Withdrawn => {
                    AnswerError::Over(one.clone())
                }
                ApprovalOutcome::Once
                | ApprovalOutcome::Session
                | ApprovalOutcome::Always
                | ApprovalOutcome::No => AnswerError::AnsweredBefore(one.clone()),
            },
        }
    }
}

#[cfg(test)]
#[path = "broker_tests.rs"]
mod tests;
