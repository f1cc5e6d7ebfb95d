//! What a turn comes to: a report, or why there is none.

use crate::source::SourceError;
use chitin_model::ModelError;
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_protocol::message::{StopReason, Usage};
use chitin_store::StoreError;

/// How a turn went wrong before, or beside, the model's answer.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// There is no context.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The session cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model cannot be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A limit was reached.
    #[error("stopped: {0}")]
    Limit(String),
    /// No model is configured.
    #[error("no model is configured")]
    NoModel,
    /// Something of ours went wrong.
    #[error("{0}")]
    Internal(String),
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The last answer's text.
    pub text: String,
    /// Tokens and cost of all calls.
    pub usage: Usage,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// What a rule of the workspace refused: the message, or the last reply.
    pub refused: Option<(RefusedPart, RuleRefusal)>,
}
