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
    /// It goes on in another process, under its key.
    #[error("the turn goes on in another process")]
    Elsewhere,
    /// Something of ours went wrong.
    #[error("{0}")]
    Internal(String),
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The message's or the turn's own: asked again, it fails again.
    Own,
    /// The machine's, or that of the workspace or the configuration: it may pass.
    Machine,
    /// The model's, or that of the way to it: it may pass.
    Model,
}

impl TurnError {
    /// Says whose fault it is.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::Source(_) | Self::NoModel | Self::Elsewhere => Fault::Machine,
            Self::Store(error) => match error {
                StoreError::Busy { .. }
                | StoreError::NoRoom { .. }
                | StoreError::Damaged { .. }
                | StoreError::Poisoned { .. }
                | StoreError::Io { .. } => Fault::Machine,
                StoreError::Unknown { .. }
                | StoreError::BadKey { .. }
                | StoreError::TooLong { .. }
                | StoreError::Exists { .. } => Fault::Own,
            },
            Self::Model(error) => match error {
                ModelError::RateLimited { .. }
                | ModelError::Upstream { .. }
                | ModelError::Unreachable { .. }
                | ModelError::TimedOut { .. }
                // Such as the page of a proxy in front of it.
                | ModelError::Malformed { .. }
                // A key or an account can be mended; the message is not to blame.
                | ModelError::Unauthorized { .. } => Fault::Model,
                ModelError::Rejected { status, .. } => match status {
                    402..=404 => Fault::Model,
                    _ => Fault::Own,
                },
                ModelError::TooLong { .. }
                | ModelError::Unscripted(_)
                | ModelError::Unbuildable(_)
                | ModelError::Cancelled => Fault::Own,
            },
            Self::Limit(_) | Self::Internal(_) => Fault::Own,
        }
    }
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
