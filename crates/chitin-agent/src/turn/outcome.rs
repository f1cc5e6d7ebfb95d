//! The outcome of a turn: a report or an error.

use crate::source::SourceError;
use chitin_model::ModelError;
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_protocol::message::{StopReason, Usage};
use chitin_protocol::origin::Origin;
use chitin_store::StoreError;

/// Why a turn failed.
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

/// The outcome of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnReport {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The text of the last reply.
    pub text: String,
    /// Tokens and cost of all calls.
    pub usage: Usage,
    /// What went wrong, if something did.
    pub error: Option<String>,
    /// What a rule of the workspace refused: the message, or the last reply.
    pub refused: Option<(RefusedPart, RuleRefusal)>,
    /// Where texts of the session come from that are not the owner's.
    pub origins: Vec<Origin>,
}
