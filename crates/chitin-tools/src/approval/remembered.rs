//! What was answered for a session or for good, so that nobody is asked twice.

use crate::tool::{Approval, ApprovalRequest};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many answers of a session are remembered.
const MOST_OF_A_SESSION: usize = 1000;
/// How many sessions are.
const MOST_SESSIONS: usize = 1000;

/// Something that the owner allowed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RememberedApproval {
    /// What it is called, to take it back.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it allows.
    pub pattern: String,
    /// When it was allowed, in milliseconds since 1970.
    pub allowed_at: i64,
}

/// Where answers for good are kept. Implementors look anew each time, so that what is taken back counts at once.
pub trait ApprovalStore: Send + Sync {
    /// Returns what was allowed; nothing if that cannot be read.
    fn remembered(&self) -> Vec<RememberedApproval>;

    /// Keeps an answer for good. Fails with a sentence.
    fn remember(&self, tool: &str, pattern: &str) -> Result<(), String>;
}

/// Tools, and the patterns that they were allowed.
type SessionAnswers = Vec<(String, String)>;

/// What was answered for a session or for good.
#[derive(Default, Clone)]
pub struct RememberedApprovals {
    store: Option<Arc<dyn ApprovalStore>>,
    sessions: Arc<Mutex<HashMap<String, SessionAnswers>>>,
}

impl std::fmt::Debug for RememberedApprovals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RememberedApprovals")
            .finish_non_exhaustive()
    }
}

impl RememberedApprovals {
    /// Keeps answers for good in a store.
    pub fn new(store: Arc<dyn ApprovalStore>) -> Self {
        Self {
            store: Some(store),
            sessions: Arc::default(),
        }
    }

    /// Tells whether an earlier answer covers a request. Reads a file.
    pub fn covers(&self, request: &ApprovalRequest<'_>) -> bool {
        if request.pattern.is_none() {
            return false;
        }
        let of_session = {
            let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            let answers = sessions.get(request.session_key).into_iter().flatten();
            let mut answers = answers.filter(|(tool, _)| tool == request.tool);
            answers.any(|(_, pattern)| (request.covered_by)(pattern))
        };
        of_session
            || self.store.as_ref().is_some_and(|store| {
                let rules = store.remembered();
                let mut rules = rules.iter().filter(|rule| rule.tool == request.tool);
                rules.any(|rule| (request.covered_by)(&rule.pattern))
            })
    }

    /// Forgets what was answered for a session, which is deleted.
    pub fn forget_session(&self, session_key: &str) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(session_key);
    }

    /// Keeps an answer as long as it says. Fails with a sentence; the answer counts all the same.
    pub fn keep(&self, request: &ApprovalRequest<'_>, answer: &Approval) -> Result<(), String> {
        let Some(pattern) = request.pattern else {
            return Ok(());
        };
        match (answer, &self.store) {
            (Approval::Always, Some(store)) => store.remember(request.tool, pattern),
            (Approval::Always, None) | (Approval::Session, _) => {
                let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                if sessions.len() >= MOST_SESSIONS && !sessions.contains_key(request.session_key) {
                    sessions.clear();
                }
                let answers = sessions.entry(request.session_key.to_owned()).or_default();
                if answers.len() < MOST_OF_A_SESSION {
                    answers.push((request.tool.to_owned(), pattern.to_owned()));
                }
                Ok(())
            }
            (Approval::Once | Approval::Denied(_) | Approval::Nobody(_), _) => Ok(()),
        }
    }
}
